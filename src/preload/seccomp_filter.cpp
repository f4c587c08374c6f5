// SPDX-License-Identifier: Apache-2.0
// What a filter of the program answers to the calls that we make. The filter is run here, as the kernel will run it
// (seccomp(2)). The instructions are those of linux/filter.h.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>

#include "sandbox.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

constexpr long call_numbers[] = {SYS_membarrier,
                                 SYS_sched_yield,
                                 SYS_sched_getscheduler,
                                 SYS_sched_getaffinity,
                                 SYS_getrandom,
                                 SYS_getpid,
                                 SYS_gettid,
                                 SYS_kill,
                                 SYS_fstat,
                                 SYS_newfstatat,
                                 SYS_openat,
                                 SYS_close,
                                 SYS_fcntl,
                                 SYS_readlinkat,
                                 SYS_mmap,
                                 SYS_munmap,
                                 SYS_madvise,
                                 SYS_read,
                                 SYS_write};

#if defined(__x86_64__)
constexpr std::uint32_t this_processor = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t this_processor = AUDIT_ARCH_AARCH64;
#endif

struct registers {
  std::uint32_t a = 0, x = 0;
  std::uint32_t memory[BPF_MEMWORDS] = {};
};

std::uint32_t computed(std::uint16_t code, std::uint32_t a, std::uint32_t by) noexcept {
  switch (BPF_OP(code)) {
    case BPF_ADD:
      return a + by;
    case BPF_SUB:
      return a - by;
    case BPF_MUL:
      return a * by;
    case BPF_DIV:
      return by != 0 ? a / by : 0;
    case BPF_OR:
      return a | by;
    case BPF_AND:
      return a & by;
    case BPF_XOR:
      return a ^ by;
    case BPF_LSH:
      return a << (by & 31);
    case BPF_RSH:
      return a >> (by & 31);
    default:
      return -a;  // BPF_NEG
  }
}

bool jumps(std::uint16_t code, std::uint32_t a, std::uint32_t with) noexcept {
  switch (BPF_OP(code)) {
    case BPF_JEQ:
      return a == with;
    case BPF_JGT:
      return a > with;
    case BPF_JGE:
      return a >= with;
    default:
      return (a & with) != 0;  // BPF_JSET
  }
}

/// None for a call's arguments or its address, which are not known.
std::optional<std::uint32_t> word_of_call(std::uint32_t offset, std::uint32_t number) noexcept {
  if (offset == offsetof(seccomp_data, nr)) return number;
  if (offset == offsetof(seccomp_data, arch)) return this_processor;
  return std::nullopt;
}

/// The effect of a load or a store. False: it depends on what is not known, or is no instruction of a filter.
bool moves(const sock_filter& step, registers& now, std::uint32_t number) noexcept {
  std::uint32_t& target = BPF_CLASS(step.code) == BPF_LDX ? now.x : now.a;
  switch (BPF_MODE(step.code)) {
    case BPF_IMM:
      target = step.k;
      return true;
    case BPF_MEM:
      if (step.k >= BPF_MEMWORDS) return false;
      target = now.memory[step.k];
      return true;
    case BPF_LEN:
      target = sizeof(seccomp_data);
      return true;
    case BPF_ABS: {
      const std::optional<std::uint32_t> word = word_of_call(step.k, number);
      target = word.value_or(0);
      return word.has_value();
    }
    default:
      return false;
  }
}

/// What the filter returns; none if that depends on what is not known.
std::optional<std::uint32_t> answer(const sock_fprog& filter, std::uint32_t number) noexcept {
  registers now;
  for (std::size_t at = 0; at < filter.len; ++at) {  // jumps go forward only
    const sock_filter& step = filter.filter[at];
    const std::uint32_t other = BPF_SRC(step.code) == BPF_X ? now.x : step.k;
    switch (BPF_CLASS(step.code)) {
      case BPF_LD:
      case BPF_LDX:
        if (!moves(step, now, number)) return std::nullopt;
        break;
      case BPF_ST:
      case BPF_STX:
        if (step.k >= BPF_MEMWORDS) return std::nullopt;
        now.memory[step.k] = BPF_CLASS(step.code) == BPF_ST ? now.a : now.x;
        break;
      case BPF_ALU:
        now.a = computed(step.code, now.a, other);
        break;
      case BPF_JMP:
        at += BPF_OP(step.code) == BPF_JA ? step.k : jumps(step.code, now.a, other) ? step.jt : step.jf;
        break;
      case BPF_RET:
        return BPF_RVAL(step.code) == BPF_A ? now.a : step.k;
      default:  // BPF_MISC
        (BPF_MISCOP(step.code) == BPF_TAX ? now.x : now.a) = BPF_MISCOP(step.code) == BPF_TAX ? now.a : now.x;
    }
  }
  return std::nullopt;
}

bool only_answers(const std::optional<std::uint32_t>& returned) noexcept {
  if (!returned) return false;
  const std::uint32_t action = *returned & SECCOMP_RET_ACTION_FULL;
  return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG || action == SECCOMP_RET_ERRNO;
}

}  // namespace

static_assert(std::size(call_numbers) < 32);

std::uint32_t calls_that_end_in(const sock_fprog& filter) noexcept {
  std::uint32_t calls = 0;
  for (std::size_t i = 0; i < std::size(call_numbers); ++i)
    if (!only_answers(answer(filter, static_cast<std::uint32_t>(call_numbers[i])))) calls |= std::uint32_t{1} << i;
  return calls;
}

constinit std::atomic<std::uint32_t> calls_given_up{0};

bool may_call(long number) noexcept {
  // relaxed: a thread that gives calls up waits for those that are being made (sandbox.cpp)
  const std::uint32_t given_up = calls_given_up.load(std::memory_order_relaxed);
  if (given_up == 0) [[likely]]
    return true;
  for (std::size_t i = 0; i < std::size(call_numbers); ++i)
    if (call_numbers[i] == number) return (given_up >> i & 1) == 0;
  return true;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

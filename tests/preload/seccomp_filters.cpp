// SPDX-License-Identifier: Apache-2.0
// What the preloaded library takes from a filter that the program installs.
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <cstddef>
#include <vector>

#include "preload/sandbox.hpp"

namespace {

namespace preload = txsync::preload;

const sock_filter load_number = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
const sock_filter load_processor = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch));

sock_filter load_argument(unsigned number) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offsetof(seccomp_data, args)) + 8 * number);
}
sock_filter returns(std::uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }
sock_filter unless(std::uint32_t value, unsigned char skip) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip);
}

/// Of a process with this filter alone.
class after {
 public:
  explicit after(std::vector<sock_filter> steps) {
    const sock_fprog filter{static_cast<unsigned short>(steps.size()), steps.data()};
    preload::calls_given_up.store(preload::calls_that_end_in(filter));
  }
  ~after() { preload::calls_given_up.store(0); }
  after(const after&) = delete;
  after& operator=(const after&) = delete;
  bool may(long number) const { return preload::may_call(number); }
};

TEST(seccomp_filters, what_is_allowed_or_refused_with_an_error_may_be_called) {
  for (const std::uint32_t action : {SECCOMP_RET_ALLOW, SECCOMP_RET_LOG, SECCOMP_RET_ERRNO | 38u}) {
    const after filter({load_number, unless(SYS_membarrier, 1), returns(action), returns(SECCOMP_RET_KILL_PROCESS)});
    EXPECT_TRUE(filter.may(SYS_membarrier)) << action;
    EXPECT_FALSE(filter.may(SYS_sched_yield)) << action;
  }
}

TEST(seccomp_filters, what_does_more_than_answer_may_not) {
  for (const std::uint32_t action : {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_TRAP,
                                     SECCOMP_RET_TRACE, SECCOMP_RET_USER_NOTIF}) {
    const after filter({load_number, unless(SYS_mmap, 1), returns(action), returns(SECCOMP_RET_ALLOW)});
    EXPECT_FALSE(filter.may(SYS_mmap)) << action;
    EXPECT_TRUE(filter.may(SYS_munmap)) << action;
  }
}

TEST(seccomp_filters, what_depends_on_arguments_may_not) {
  const after filter({load_number, unless(SYS_madvise, 3), load_argument(2), unless(4, 1), returns(SECCOMP_RET_ALLOW),
                      returns(SECCOMP_RET_ALLOW)});
  EXPECT_FALSE(filter.may(SYS_madvise));
  EXPECT_TRUE(filter.may(SYS_fstat));
}

TEST(seccomp_filters, the_processor_is_this_one) {
#if defined(__x86_64__)
  constexpr std::uint32_t here = AUDIT_ARCH_X86_64;
#else
  constexpr std::uint32_t here = AUDIT_ARCH_AARCH64;
#endif
  const after filter({load_processor, unless(here, 1), returns(SECCOMP_RET_ALLOW), returns(SECCOMP_RET_KILL_PROCESS)});
  EXPECT_TRUE(filter.may(SYS_getpid));
}

TEST(seccomp_filters, registers_memory_and_jumps) {
  // A: number * 2 + 6, kept and fetched back; X: number. (A - 6) / 2 is the number again.
  std::vector<sock_filter> steps = {
      load_number, BPF_STMT(BPF_MISC | BPF_TAX, 0), BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),
      BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 6), BPF_STMT(BPF_ST, 3), BPF_STMT(BPF_LD | BPF_IMM, 0),
      BPF_STMT(BPF_LDX | BPF_MEM, 3), BPF_STMT(BPF_MISC | BPF_TXA, 0), BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, 6),
      BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 1), BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0), returns(SECCOMP_RET_KILL_PROCESS),
      // From here on as compilers of filters search: by halves.
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, SYS_sched_yield, 0, 1),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, SYS_sched_yield, 0, 1), returns(SECCOMP_RET_KILL_PROCESS),
      returns(SECCOMP_RET_ALLOW)};
  const after filter(steps);
  EXPECT_TRUE(filter.may(SYS_sched_yield));
  EXPECT_FALSE(filter.may(SYS_membarrier));
  EXPECT_FALSE(filter.may(SYS_close));
}

TEST(seccomp_filters, each_call_is_given_up_for_itself) {
  for (const long number : {SYS_write, SYS_read, SYS_openat, SYS_kill, SYS_gettid}) {
    const after filter({load_number, unless(static_cast<std::uint32_t>(number), 1), returns(SECCOMP_RET_KILL_PROCESS),
                        returns(SECCOMP_RET_ALLOW)});
    EXPECT_FALSE(filter.may(number)) << number;
    EXPECT_TRUE(filter.may(SYS_membarrier)) << number;
  }
}

TEST(seccomp_filters, a_filter_without_an_end_gives_all_up) {
  const after filter({load_number});
  EXPECT_FALSE(filter.may(SYS_getpid));
  EXPECT_TRUE(filter.may(SYS_futex));
}

}  // namespace

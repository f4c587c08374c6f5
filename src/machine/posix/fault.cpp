// SPDX-License-Identifier: Apache-2.0
// Faults: one handler in front of the program's former handlers of SIGSEGV, SIGBUS and SIGFPE.
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include <pthread.h>
#include <ucontext.h>

#include <atomic>

#include <txsync/machine/assert.hpp>
#include <txsync/machine/memory.hpp>

#include "../guarded.hpp"
#include "permit.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace {

// initial-exec: a signal handler reads it.
[[gnu::tls_model("initial-exec")]] constinit thread_local std::jmp_buf* fault_jump_target = nullptr;

struct claim {
  std::atomic<fault_handler> handler{nullptr};
  std::atomic<void*> argument{nullptr};
};

// The valid claim is claims[generation % 2]. A setter fills the other one and then publishes it. So a reader that still
// sees the same generation after reading has read a consistent pair. A signal handler cannot use locks.
constinit claim claims[2];
constinit std::atomic<std::uint64_t> generation{0};
constinit pthread_mutex_t setters = PTHREAD_MUTEX_INITIALIZER;

constexpr int signals[] = {SIGSEGV, SIGBUS, SIGFPE};
constexpr std::size_t signal_count = std::size(signals);
// The former handlers of these signals; written once, before our own handler is installed, which reads them.
struct sigaction previous_handlers[signal_count];
constinit std::atomic<bool> installed{false};  // written under `setters`

bool ask_claim(void* address, bool write) noexcept {
  for (;;) {
    const std::uint64_t seen = generation.load(std::memory_order_acquire);  // pairs with the release in the setter
    // acquire: keeps the second look at the generation behind these loads; pairs with the setter's release stores
    const fault_handler handler = claims[seen % 2].handler.load(std::memory_order_acquire);
    void* const argument = claims[seen % 2].argument.load(std::memory_order_acquire);
    if (generation.load(std::memory_order_relaxed) != seen) continue;  // relaxed: ordered by the acquires before it
    return handler != nullptr && handler(address, write, argument) == fault_answer::retry;
  }
}

#if defined(__aarch64__)
/// The exception syndrome. The kernel appends it to the signal frame as one record of a chain.
bool syndrome(const ucontext_t& context, std::uint64_t& value) noexcept {
  struct record {
    std::uint32_t magic;
    std::uint32_t bytes;
  };
  constexpr std::uint32_t esr_magic = 0x45535201;
  const char* at = reinterpret_cast<const char*>(context.uc_mcontext.__reserved);
  const char* const end = at + sizeof context.uc_mcontext.__reserved;
  while (at + sizeof(record) <= end) {
    const record& head = *reinterpret_cast<const record*>(at);
    if (head.magic == esr_magic) {
      value = *reinterpret_cast<const std::uint64_t*>(at + sizeof(record));
      return true;
    }
    if (head.magic == 0 || head.bytes == 0) return false;
    at += head.bytes;
  }
  return false;
}
#endif

/// Whether the access was a store; true if the machine does not say.
bool was_write(const void* raw) noexcept {
  [[maybe_unused]] const auto& context = *static_cast<const ucontext_t*>(raw);
#if defined(__x86_64__)
  constexpr greg_t write_bit = 1 << 1;  // page-fault error code (Intel SDM vol. 3, 4.7)
  return (context.uc_mcontext.gregs[REG_ERR] & write_bit) != 0;
#elif defined(__aarch64__)
  std::uint64_t esr = 0;
  if (!syndrome(context, esr)) return true;
  const std::uint64_t exception_class = (esr >> 26) & 0x3F;
  const bool data_abort = exception_class == 0x24 || exception_class == 0x25;
  return !data_abort || (esr & (1u << 6)) != 0;  // WnR (Arm ARM, ESR_ELx, data abort)
#elif defined(__powerpc64__)
  constexpr unsigned dsisr = 42;                  // index in gp_regs (asm/ptrace.h, PT_DSISR)
  constexpr std::uint64_t is_store = 0x02000000;  // Power ISA book III, DSISR
  return (context.uc_mcontext.gp_regs[dsisr] & is_store) != 0;
#else
  return true;
#endif
}

bool is_access_fault(int signal, const siginfo_t& info) noexcept {
  if (signal == SIGSEGV) return info.si_code == SEGV_MAPERR || info.si_code == SEGV_ACCERR;
  return signal == SIGBUS && info.si_code == BUS_ADRERR;
}

struct sigaction& previous_of(int signal) noexcept {
  std::size_t which = 0;
  while (signals[which] != signal) ++which;
  return previous_handlers[which];
}

/// Lets the default action happen. A fault happens again when its instruction runs again. A signal that somebody sent
/// is raised again; it is blocked until this handler returns.
void die_by_default(int signal, const siginfo_t& info) noexcept {
  std::signal(signal, SIG_DFL);
  if (info.si_code <= 0) raise(signal);
}

/// Does what would have happened without our handler.
void pass_on(int signal, siginfo_t* info, void* context) noexcept {
  struct sigaction& before = previous_of(signal);
  const bool with_info = (before.sa_flags & SA_SIGINFO) != 0;
  if (!with_info && before.sa_handler == SIG_DFL) return die_by_default(signal, *info);
  if (!with_info && before.sa_handler == SIG_IGN) {
    if (info->si_code > 0) die_by_default(signal, *info);  // the kernel does not let a program ignore its own faults
    return;
  }
  const struct sigaction action = before;
  if ((action.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) {
    before.sa_flags = 0;
    before.sa_handler = SIG_DFL;
  }
  pthread_sigmask(SIG_BLOCK, &action.sa_mask, nullptr);  // the kernel restores the mask when we return
  if ((action.sa_flags & SA_NODEFER) != 0) {
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, signal);
    pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  }
  if (with_info) {
    action.sa_sigaction(signal, info, context);
  } else {
    action.sa_handler(signal);
  }
}

/// Restores the values from when the signal came. setjmp does not keep them, and x86-64's kernel resets them for
/// handlers.
void restore_rounding_and_traps([[maybe_unused]] const ucontext_t& context) noexcept {
#if defined(__x86_64__)
  const auto* const state = context.uc_mcontext.fpregs;
  if (state == nullptr) return;
  __builtin_ia32_ldmxcsr(state->mxcsr);
  asm volatile("fldcw %0" : : "m"(state->cwd));
#endif
}

/// Leaves the guarded body that has faulted, on its own stack.
[[noreturn]] void leave_body(std::jmp_buf& target, const void* raw) noexcept {
  const auto& context = *static_cast<const ucontext_t*>(raw);
  pthread_sigmask(SIG_SETMASK, &context.uc_sigmask, nullptr);  // as it was in the body
  restore_rounding_and_traps(context);
  std::longjmp(target, detail::landed_by_fault);  // NOLINT(cert-err52-cpp): as in guarded.cpp
}

void on_signal(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const bool dealt_with = is_access_fault(signal, *info) && ask_claim(info->si_addr, was_write(context));
  // Also for a fault without an address (a general protection fault), whose si_addr may have any value.
  if (!dealt_with && fault_jump_target != nullptr && info->si_code > 0) {
    errno = saved_errno;
    leave_body(*fault_jump_target, context);
  }
  if (!dealt_with) pass_on(signal, info, context);
  errno = saved_errno;
}

/// Requires: `setters` is held.
bool install() noexcept {
  TXSYNC_ASSERT(pthread_mutex_trylock(&setters) != 0, "the mutex of those that set handlers is held");
  if (installed.load(std::memory_order_relaxed)) return true;  // relaxed: under the lock
  struct sigaction ours{};
  ours.sa_sigaction = on_signal;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  for (std::size_t i = 0; i < signal_count; ++i) {
    if (sigaction(signals[i], nullptr, &previous_handlers[i]) != 0) return false;
  }
  for (std::size_t i = 0; i < signal_count; ++i) {
    if (sigaction(signals[i], &ours, nullptr) == 0) continue;
    while (i-- != 0) sigaction(signals[i], &previous_handlers[i], nullptr);
    return false;
  }
  installed.store(true, std::memory_order_release);  // pairs with the acquire in catch_faults()
  return true;
}

}  // namespace

void detail::catch_faults(std::jmp_buf* target) noexcept {
  fault_jump_target = target;
  if (installed.load(std::memory_order_acquire)) return;  // pairs with the release in install()
  if (!permitted(system_call::fault_handler)) return;
  pthread_mutex_lock(&setters);
  (void)install();
  pthread_mutex_unlock(&setters);
}

bool set_fault_handler(fault_handler handler, void* argument) noexcept {
  if (!detail::permitted(detail::system_call::fault_handler)) return false;
  pthread_mutex_lock(&setters);
  // Our signal handler stays installed: another handler may have been put in front of it and call it.
  const bool standing = handler == nullptr ? true : install();
  if (standing) {
    const std::uint64_t next = generation.load(std::memory_order_relaxed) + 1;  // relaxed: only setters write it
    // release: a reader that sees one of these also sees the generation before it, and retries; pairs with ask_claim()
    claims[next % 2].handler.store(handler, std::memory_order_release);
    claims[next % 2].argument.store(argument, std::memory_order_release);
    generation.store(next, std::memory_order_release);  // pairs with the acquire in ask_claim()
  }
  pthread_mutex_unlock(&setters);
  return standing;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

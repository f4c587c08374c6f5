// SPDX-License-Identifier: Apache-2.0
// XBEGIN on a CPU that does not claim it: some kernels and hypervisors hide the claim but leave the instruction.
#include <txsync/machine/capability.hpp>

#if defined(__x86_64__)

#include <csignal>
#include <cstdint>

#include <pthread.h>
#include <ucontext.h>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace {

constexpr std::uint32_t illegal_value = attempt_status::explicit_bit;  // without a code: no XBEGIN of ours returns it
constexpr int xbegin_bytes = 6;

extern "C" const char txsync_unclaimed_xbegin[] __attribute__((visibility("hidden")));

struct sigaction previous;
constinit pthread_mutex_t trials = PTHREAD_MUTEX_INITIALIZER;

/// One attempt without a store. The instruction has a label, by which the handler knows it. There may be only one copy.
[[gnu::noinline]] std::uint32_t named_begin() noexcept {
  std::uint32_t status = attempt_status::started_value;
  asm volatile(
      ".globl txsync_unclaimed_xbegin\n\t.hidden txsync_unclaimed_xbegin\n"
      "txsync_unclaimed_xbegin:\n\t"
      ".byte 0xc7, 0xf8, 0, 0, 0, 0"
      : "+a"(status)::"memory");
  if (status == attempt_status::started_value) end();
  return status;
}

void on_illegal(int signal, siginfo_t* info, void* raw) {
  auto& registers = static_cast<ucontext_t*>(raw)->uc_mcontext.gregs;
  if (info->si_addr == txsync_unclaimed_xbegin) {
    registers[REG_RAX] = illegal_value;
    registers[REG_RIP] += xbegin_bytes;
    return;
  }
  // It is another illegal instruction: restore the former handler. The instruction then runs, and fails, again.
  sigaction(signal, &previous, nullptr);
}

}  // namespace

unclaimed_trial try_unclaimed_htm(unsigned tries) noexcept {
  unclaimed_trial trial;
  pthread_mutex_lock(&trials);
  struct sigaction ours{};
  ours.sa_sigaction = on_illegal;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  if (sigaction(SIGILL, &ours, &previous) == 0) {
    for (; trial.tries < tries && !trial.illegal; ++trial.tries) {
      const std::uint32_t status = named_begin();
      trial.illegal = status == illegal_value;
      if (status == attempt_status::started_value) ++trial.commits;
      if (status == 0) ++trial.without_reason;
    }
    sigaction(SIGILL, &previous, nullptr);
  }
  pthread_mutex_unlock(&trials);
  return trial;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

#else

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

unclaimed_trial try_unclaimed_htm(unsigned) noexcept { return {}; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

#endif

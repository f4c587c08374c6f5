// SPDX-License-Identifier: Apache-2.0
// Signals of the program. The model calls handlers of access faults, as plain functions on the thread's own stack. All
// other handlers are remembered and never called.
#include <cerrno>
#include <csetjmp>
#include <csignal>

#include "access.hpp"
#include "pages.hpp"
#include "signals.hpp"

namespace txsync::sim {

void land_after_fault(thread_record& thread) noexcept {
  if (thread.fault_landing == nullptr || (thread.tx.depth != 0 && !thread.tx.suspended)) return;
  charge(thread, state.model.os_syscall);
  auto& landing = *static_cast<std::jmp_buf*>(thread.fault_landing);
  thread.fault_landing = nullptr;
  std::longjmp(landing, 1);  // NOLINT(cert-err52-cpp): the frames are the program's, not ours
}

namespace {

constexpr int max_signals = 64;
constinit struct sigaction handlers[max_signals + 1] = {};

[[noreturn]] void no_handler(std::uintptr_t address, bool write) noexcept {
  line_text line;
  line << "the program may not " << (write ? "write " : "read ");
  fail(line.hexadecimal(address));
}

void call_handler(thread_record& thread, std::uintptr_t address, bool write) noexcept {
  const struct sigaction action = handlers[SIGSEGV];
  const bool takes_info = (action.sa_flags & SA_SIGINFO) != 0;
  if (!takes_info && (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)) no_handler(address, write);
  if ((action.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) handlers[SIGSEGV] = {};
  charge(thread, state.model.os_syscall);
  if (!takes_info) return action.sa_handler(SIGSEGV);
  siginfo_t info{};
  info.si_signo = SIGSEGV;
  info.si_code = SEGV_ACCERR;
  info.si_addr = reinterpret_cast<void*>(address);
  ucontext_t context{};
  context.uc_mcontext.gregs[REG_ERR] = write ? 7 : 5;  // as the CPU reports it: user mode, page present
  action.sa_sigaction(SIGSEGV, &info, &context);
}

}  // namespace

void settle_rights(thread_record& thread, std::uintptr_t address, std::size_t bytes, bool write) noexcept {
  constexpr unsigned max_calls = 1000;
  std::uintptr_t refused = 0;
  for (unsigned calls = 0; (refused = first_refused(address, bytes, write)) != 0; ++calls) {
    if (thread.tx.depth != 0 && !thread.tx.suspended) abort_self({.why = cause::fault, .address = refused});
    land_after_fault(thread);
    if (calls == max_calls) no_handler(refused, write);  // its handler has not helped
    call_handler(thread, refused, write);
  }
}

}  // namespace txsync::sim

using namespace txsync::sim;

extern "C" void txsync_sim_catch_faults(void* landing) {
  if (state.current != nullptr) state.current->fault_landing = landing;
}

extern "C" int txsync_sim_sigaction(int signal, const struct sigaction* action, struct sigaction* old) {
  if (state.current != nullptr) {
    leave_attempt(cause::syscall);
    scheduling_point();
    charge(*state.current, state.model.os_syscall);
    const auto at = [](const void* object) noexcept { return reinterpret_cast<std::uintptr_t>(object); };
    if (action != nullptr) look_at<false>(*state.current, at(action), sizeof *action);
    if (old != nullptr) look_at<true>(*state.current, at(old), sizeof *old);
  }
  const bool is_fixed = signal == SIGKILL || signal == SIGSTOP;
  if (signal < 1 || signal > max_signals || (is_fixed && action != nullptr)) {
    errno = EINVAL;
    return -1;
  }
  const struct sigaction before = handlers[signal];
  if (action != nullptr) handlers[signal] = *action;
  if (old != nullptr) *old = before;
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Signals of the program. The model calls handlers of access faults, as plain functions on the thread's own stack. All
// other handlers are remembered and never called.
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <utility>

#include "access.hpp"
#include "pages.hpp"
#include "signals.hpp"

namespace txsync::sim {

void land_after_fault(thread_record& thread) noexcept {
  if (thread.fault_jump_target == nullptr || (thread.tx.depth != 0 && !thread.tx.suspended)) return;
  charge(thread, state.model.os_syscall);
  auto& target = *static_cast<std::jmp_buf*>(thread.fault_jump_target);
  thread.fault_jump_target = nullptr;
  std::longjmp(target, 1);  // NOLINT(cert-err52-cpp): the frames are the program's, not ours
}

namespace {

constexpr int max_signals = 64;
constinit struct sigaction handlers[max_signals + 1] = {};

/// machine::set_fault_handler().
struct seam_handler {
  int (*function)(void* address, int write, void* argument) = nullptr;
  void* argument = nullptr;
};
constinit seam_handler of_seam{};

[[noreturn]] void no_handler(std::uintptr_t address, bool write) noexcept {
  line_text line;
  line << "the program may not " << (write ? "write " : "read ");
  fail(line.hexadecimal(address));
}

/// Calls the handler of the seam, and if that one does not answer, the program's.
void call_handler(thread_record& thread, std::uintptr_t address, bool write) noexcept {
  if (const seam_handler asked = of_seam; asked.function != nullptr) {
    charge(thread, state.model.os_syscall);
    if (asked.function(reinterpret_cast<void*>(address), write ? 1 : 0, asked.argument) != 0) return;
  }
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
    if (thread.tx.depth != 0 && !thread.tx.suspended) abort_self_for({refused, write});
    land_after_fault(thread);
    if (calls == max_calls) no_handler(refused, write);  // its handler has not helped
    call_handler(thread, refused, write);
  }
}

}  // namespace txsync::sim

using namespace txsync::sim;

extern "C" void txsync_sim_catch_faults(void* target) {
  if (state.current != nullptr) state.current->fault_jump_target = target;
}

extern "C" void txsync_sim_on_fault(int (*handler)(void* address, int write, void* argument), void* argument) {
  of_seam = {handler, argument};
}

/// The running thread's attempt has ended because of a refused access. Returns what its begin returns.
extern "C" std::uint32_t txsync_sim_report_violation() noexcept {
  thread_record& thread = *state.current;
  const refused_access refused = std::exchange(thread.reported, {});
  const std::uint32_t status = thread.resume_value;
  call_handler(thread, refused.address, refused.write);
  return status;
}

extern "C" int txsync_sim_sigaction(int signal, const struct sigaction* action, struct sigaction* old) {
  if (state.current != nullptr) {
    leave_attempt(cause::syscall);
    scheduling_point();
    charge(*state.current, state.model.os_syscall);
    const auto at = [](const void* object) noexcept { return reinterpret_cast<std::uintptr_t>(object); };
    if (action != nullptr) check_access<false>(*state.current, at(action), sizeof *action);
    if (old != nullptr) check_access<true>(*state.current, at(old), sizeof *old);
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

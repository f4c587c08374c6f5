// SPDX-License-Identifier: Apache-2.0
// Faults that the processor finds in the program, and endless loops that no hook would see.
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <initializer_list>

#include "attempts.hpp"
#include "call_chain.hpp"
#include "failure.hpp"
#include "own_exploration.hpp"
#include "signals.hpp"
#include "state.hpp"

namespace txsync::sim {

namespace {

constinit bool crashed = false;

void describe_fault(line_text& line, int signal, std::uintptr_t address) noexcept {
  switch (signal) {
    case SIGFPE:
      line << "the program divides by zero, or the result has no place (SIGFPE)";
      return;
    case SIGILL:
      line << "the program runs into what is no instruction (SIGILL)";
      return;
    case SIGABRT:
      line << "the program was ended by libc's abort(): an exception that nobody caught, or a check of libc's own";
      return;
    default:
      break;
  }
  const thread_record* thread = state.current;
  if (thread != nullptr && address - thread->stack_low < 4096) {
    line << "the stack of a simulated thread is full (" << stack_bytes / 1024 << " KiB)";
    return;
  }
  line << "the program crashed: there is nothing at ";
  line.hexadecimal(address) << (signal == SIGBUS ? " (SIGBUS)" : " (SIGSEGV)");
}

void on_crash(int signal, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const bool is_access = signal == SIGSEGV || signal == SIGBUS;
  if (is_access) end_walk_at_fault();
  thread_record* thread = state.current;
  // The fault ends an attempt, and no one learns of it. Code that runs later may come here again.
  const bool is_fault = is_access ? address < program_end : signal != SIGABRT;
  if (is_fault && thread != nullptr && thread->tx.depth != 0 && !thread->tx.suspended) {
    abort_self({.why = cause::fault, .address = address});
  }
  if ((is_access ? address < program_end : signal == SIGFPE) && thread != nullptr) land_after_fault(*thread);
  line_text line;
  describe_fault(line, signal, address);
  if (crashed) {  // while the first was reported: the stack cannot be followed
    set_current(nullptr);
    line << " (its stack is not whole; seed " << present_seed() << ")";
  }
  crashed = true;
  fail(line);
}

constexpr std::uint64_t looks = 4;
constinit std::uint64_t last_seen = 0;
constinit unsigned looks_without_progress = 0;

void on_timer(int) {
  const std::uint64_t now = state.slow_accesses + state.hits + state.free_of_charge + state.switches + state.steps;
  looks_without_progress = now == last_seen && state.current != nullptr ? looks_without_progress + 1 : 0;
  last_seen = now;
  if (looks_without_progress > looks) fail("the program has not accessed memory for long: it may compute without end");
}

constinit bool asked = false;

/// The user interrupts the simulation: where are the program's threads?
void on_request(int signal) {
  // The image is about to end if a request or a failure is being reported, or if the program has ended. The stacks of
  // its threads cannot be followed then.
  if (asked || (state.current == nullptr && state.thread_count != 0)) return;
  asked = true;
  end_interrupted_exploration(signal);
  line_text line;
  line << interrupted;
  add_places(line, [](const thread_record& thread) { return thread.state != thread_state::ended; });
  fail(line);
}

}  // namespace

void catch_crashes(std::uint64_t patience_s) noexcept {
  constexpr std::size_t bytes = std::size_t{256} << 10;
  stack_t own_stack{};
  own_stack.ss_sp = reserve(0, bytes, "stack of signal handlers");
  own_stack.ss_size = bytes;
  sigaltstack(&own_stack, nullptr);
  struct sigaction action{};
  action.sa_sigaction = on_crash;
  // A handler that ends an attempt never returns, so the signal must not stay blocked.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigaction(signal, &action, nullptr);
  struct sigaction request{};
  request.sa_handler = on_request;
  request.sa_flags = SA_ONSTACK;
  struct sigaction before{};
  sigaction(SIGHUP, nullptr, &before);
  const bool ignores_hang_up = before.sa_handler == SIG_IGN;  // nohup
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (signal != SIGHUP || !ignores_hang_up) sigaction(signal, &request, nullptr);
  }
  if (patience_s == 0) return;
  struct sigaction look{};
  look.sa_handler = on_timer;
  look.sa_flags = SA_ONSTACK | SA_RESTART;
  sigaction(SIGPROF, &look, nullptr);
  // CPU time, not wall-clock time: a program may wait for the system as long as it wants.
  const std::uint64_t interval_us = patience_s * 1'000'000 / looks;
  itimerval timer{};
  timer.it_interval.tv_sec = static_cast<time_t>(interval_us / 1'000'000);
  timer.it_interval.tv_usec = static_cast<suseconds_t>(interval_us % 1'000'000);
  timer.it_value = timer.it_interval;
  setitimer(ITIMER_PROF, &timer, nullptr);
}

}  // namespace txsync::sim

// SPDX-License-Identifier: Apache-2.0
#include "attach/thread_state.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <iterator>
#include <thread>

#include <txsync/machine/cpu.hpp>

#include "attach/registers.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::attach {
namespace {

constexpr std::uint64_t stop_timeout_ns = 200'000'000;

std::size_t bytes_to_copy(const memory_map& map, std::uint64_t stack) {
  const mapping* const in = map.at(stack);
  return in == nullptr ? 0 : std::min<std::size_t>(max_stack_bytes, in->end - stack);
}

/// The end of a stop. A signal that had come first is delivered; a stop by job control goes on.
void let_go(int thread, int wait_status) {
  const bool by_signal = wait_status >> 16 == 0;
  const long signal = by_signal ? WSTOPSIG(wait_status) : 0;
  ptrace(PTRACE_DETACH, thread, nullptr, signal);
}

struct child_signals {
  sigset_t set;
  child_signals() {
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
  }
};

/// While it lives, the stops of others are signals that wait for sigtimedwait(), in this thread and in new ones.
class child_signals_held {
 public:
  child_signals_held() {
    const child_signals only;
    pthread_sigmask(SIG_BLOCK, &only.set, &before_);
  }
  ~child_signals_held() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  child_signals_held(const child_signals_held&) = delete;
  child_signals_held& operator=(const child_signals_held&) = delete;

 private:
  sigset_t before_;
};

/// Before all others, where the system allows it: a thread is stopped until this one has had its turn.
void ask_for_priority() {
  sched_param least{};
  least.sched_priority = sched_get_priority_min(SCHED_FIFO);
  pthread_setschedparam(pthread_self(), SCHED_FIFO, &least);
}

/// Stops threads one after the other. The thread that traces ends after one that does not stop: the kernel then lets
/// that one go, which nothing else does for a thread that has not stopped.
class tracer {
 public:
  tracer(const target& of, const memory_map& map, const std::vector<int>& threads, std::vector<stopped_thread>& results)
      : of_(of), map_(map), threads_(threads), results_(results) {}

  /// From the thread `next` on; answers the next one to do.
  std::size_t work(std::size_t next) {
    while (next < threads_.size()) {
      stopped_thread& one = results_[next];
      one.state.bytes.resize(max_stack_bytes);  // before the stop: new memory takes time
      const bool gone = !copy(threads_[next], one);
      ++next;
      if (gone) break;
    }
    return next;
  }

 private:
  /// False when the thread may still stop later.
  bool copy(int thread, stopped_thread& into) {
    into.error = 0;
    if (const auto call = blocked_call_of(of_.process, thread); call && !goes_on_after_stop(*call)) {
      into.error = EBUSY;
      return true;
    }
    if (ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) {
      into.error = errno;
      return true;
    }
    const std::uint64_t begin = machine::clock_ns();
    if (ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) != 0) {
      into.error = errno;
      return false;
    }
    int status = 0;
    if (!wait_for_stop(thread, begin, status)) return false;
    if (!WIFSTOPPED(status)) {  // it has ended
      into.error = ESRCH;
      return true;
    }
    const std::uint64_t seen = machine::clock_ns();
    machine_registers all{};
    std::size_t got = 0;
    const bool known = read_registers(thread, all);
    if (known)
      got = read_memory(of_.process, stack_of(all), into.state.bytes.data(), bytes_to_copy(map_, stack_of(all)));
    let_go(thread, status);
    const std::uint64_t end = machine::clock_ns();
    into.copy_ns = end - seen;
    into.stop_ns = end - begin;
    into.state.bytes.resize(got);
    put_registers(all, into.state);
    into.state.stack = stack_of(all);
    into.copied = known && got != 0;
    if (!into.copied) into.error = EFAULT;
    return true;
  }

  /// Sleeps until the kernel says so: who looked again and again would give its turn to others meanwhile.
  static bool wait_for_stop(int thread, std::uint64_t begin, int& status) {
    for (;;) {
      const int got = waitpid(thread, &status, __WALL | WNOHANG);
      if (got == thread) return true;
      const std::uint64_t spent = machine::clock_ns() - begin;
      if (got < 0 || spent > stop_timeout_ns) return false;
      const timespec rest{0, static_cast<long>(stop_timeout_ns - spent)};
      const child_signals only;
      sigtimedwait(&only.set, nullptr, &rest);
    }
  }

  const target& of_;
  const memory_map& map_;
  const std::vector<int>& threads_;
  std::vector<stopped_thread>& results_;
};

}  // namespace

thread_state copy_blocked(const target& of, const memory_map& map, const blocked_call& call) {
  thread_state made;
  made.code = call.code;
  made.stack = call.stack;
  made.registers = {{stack_register, call.stack}};
  made.bytes.resize(bytes_to_copy(map, call.stack));
  made.bytes.resize(read_memory(of.process, call.stack, made.bytes.data(), made.bytes.size()));
  return made;
}

bool goes_on_after_stop(const blocked_call& call) noexcept {
  static constexpr long known[] = {
      SYS_futex, SYS_nanosleep, SYS_clock_nanosleep, SYS_ppoll, SYS_pselect6, SYS_wait4, SYS_waitid,
#if defined(SYS_poll)
      SYS_poll,  SYS_select,    SYS_pause,
#endif
  };
  return std::find(std::begin(known), std::end(known), call.number) != std::end(known);
}

std::vector<stopped_thread> copy_stopping(const target& of, const memory_map& map, const std::vector<int>& threads) {
  std::vector<stopped_thread> results(threads.size());
  std::size_t next = 0;
  const child_signals_held held;
  while (next < threads.size()) {
    std::thread worker([&] {
      ask_for_priority();
      next = tracer(of, map, threads, results).work(next);
    });
    worker.join();
  }
  return results;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::attach

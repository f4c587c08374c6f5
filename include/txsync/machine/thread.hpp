// SPDX-License-Identifier: Apache-2.0
// The seam: threads, their identity and their placement.
#pragma once

#include <cstddef>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

/// A thread that the program starts and joins. Not copyable. Requires: join() is called before the end of its life.
class TXSYNC_EXPORT thread {
 public:
  using entry = void (*)(void* argument);

  thread() noexcept = default;
  thread(thread&& other) noexcept : handle_(other.handle_), joinable_(other.joinable_) { other.joinable_ = false; }
  thread& operator=(thread&& other) = delete;
  thread(const thread&) = delete;
  thread& operator=(const thread&) = delete;
  ~thread();  ///< ends the program if the thread was not joined

  /// Starts `function(argument)`. False if the system has no more threads; then nothing runs.
  /// Requires: no joinable thread in *this.
  [[nodiscard]] bool start(entry function, void* argument) noexcept;
  /// Waits for the end of the thread. Requires: it was started, and not yet joined.
  void join() noexcept;
  bool joinable() const noexcept { return joinable_; }

 private:
  std::uintptr_t handle_ = 0;
  bool joinable_ = false;
};

/// A small number for the calling thread, never 0 and unique among living threads. It stays the same for the thread's
/// life.
TXSYNC_EXPORT std::uint32_t thread_id() noexcept;

/// Runs function(argument) when the calling thread ends (not at the end of the process). At most 4 per thread; false
/// for more.
TXSYNC_EXPORT bool at_thread_exit(thread::entry function, void* argument) noexcept;

/// 0 in the process that started the program, and greater in the child of each fork, from its first instruction on. In
/// the child the parent's other threads do not exist, but their changes to shared words do. Cost: two loads.
TXSYNC_EXPORT std::uint32_t fork_count() noexcept;
/// fork_count() != 0, for the fast path of locks: inlined.
[[gnu::always_inline]] inline bool is_forked() noexcept;
/// From now on, runs function() in the child of each fork() (not of _Fork()), in its only thread, after the functions
/// that were given before. False if the system refuses.
TXSYNC_EXPORT bool after_fork(void (*function)()) noexcept;

/// From now on, runs these around each fork(), as pthread_atfork(): before() ahead of earlier ones, and the others
/// behind them. False if the system refuses.
TXSYNC_EXPORT bool around_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept;

/// Gives the CPU to another runnable thread, if there is one.
TXSYNC_EXPORT void yield() noexcept;
/// Sleeps for at least that long.
TXSYNC_EXPORT void sleep_ns(std::uint64_t duration) noexcept;

/// The number of CPUs that this process may run on, at least 1; read once. (Affinity mask, not cgroup quota.)
TXSYNC_EXPORT unsigned cpu_count() noexcept;

/// Whether the calling thread has a real-time policy of the system (SCHED_FIFO, SCHED_RR, SCHED_DEADLINE), so that it
/// runs before all others. False if the system does not tell. The system is asked once in 10 ms, so the result may be
/// that old.
TXSYNC_EXPORT bool has_realtime_priority() noexcept;

/// Binds the calling thread to one CPU (the system's number). False if the system refuses.
TXSYNC_EXPORT bool pin(unsigned cpu) noexcept;

/// How to spread threads over CPUs.
enum class placement : std::uint8_t {
  none,         ///< not pinned
  cores_first,  ///< one thread per core, socket after socket; SMT siblings last
  smt_first,    ///< fill a core's hardware threads before the next core
  socket        ///< cores_first, one socket only
};

/// The CPU for the index-th thread under `how`. The index wraps around the CPUs that may be used. `socket` counts from
/// 0 and is used by placement::socket only. Returns a number for pin(). The topology is read once.
TXSYNC_EXPORT unsigned cpu_for(placement how, unsigned index, unsigned socket = 0) noexcept;

/// The number of sockets that cpu_for() knows, at least 1.
TXSYNC_EXPORT unsigned socket_count() noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

#include <txsync_backend/forks.hpp>

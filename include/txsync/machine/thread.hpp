// SPDX-License-Identifier: Apache-2.0
// The seam: threads, their identity and their place.
#pragma once

#include <cstddef>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::machine {

/// A thread that the program starts and joins. Not copyable; join() before the end of its life.
class TXSYNC_EXPORT thread {
 public:
  using entry = void (*)(void* argument);

  thread() noexcept = default;
  thread(thread&& other) noexcept : handle_(other.handle_), joinable_(other.joinable_) { other.joinable_ = false; }
  thread& operator=(thread&& other) = delete;
  thread(const thread&) = delete;
  thread& operator=(const thread&) = delete;
  ~thread();  ///< Ends the program when the thread was not joined.

  /// Starts `function(argument)`. False when the system has no more threads; then nothing runs.
  /// Requires: no joinable thread in *this.
  [[nodiscard]] bool start(entry function, void* argument) noexcept;
  /// Waits for its end. Requires: started, not yet joined.
  void join() noexcept;
  bool joinable() const noexcept { return joinable_; }

 private:
  std::uintptr_t handle_ = 0;
  bool joinable_ = false;
};

/// A small number for the calling thread, unique among living threads, never 0; stays the same for the thread's life.
TXSYNC_EXPORT std::uint32_t thread_id() noexcept;

/// Runs function(argument) when the calling thread ends (not at the end of the process). At most 4 a thread; false
/// after.
TXSYNC_EXPORT bool at_thread_exit(thread::entry function, void* argument) noexcept;

/// 0 in the process that started the program, and greater in the child of each fork, from its first instruction on. In
/// the child the parent's other threads do not exist, but what they did to shared words does. Two loads.
TXSYNC_EXPORT std::uint32_t fork_count() noexcept;
/// From now on runs function() in the child of each fork() (not of _Fork()), in its only thread, behind those that were
/// given before. False when the system refuses.
TXSYNC_EXPORT bool after_fork(void (*function)()) noexcept;

/// Gives the CPU to another runnable thread, if there is one.
TXSYNC_EXPORT void yield() noexcept;
/// Sleeps for at least that long.
TXSYNC_EXPORT void sleep_ns(std::uint64_t duration) noexcept;

/// The number of CPUs that this process may run on, at least 1; read once. (Affinity mask, not cgroup quota.)
TXSYNC_EXPORT unsigned cpu_count() noexcept;

/// Whether the calling thread has a real-time policy of the system (SCHED_FIFO, SCHED_RR, SCHED_DEADLINE), so that it
/// runs before all others. False if the system refuses to tell. Asks the system once in 10 ms, so the answer may be
/// that old.
TXSYNC_EXPORT bool has_realtime_priority() noexcept;

/// Binds the calling thread to one CPU (the system's number). False when the system refuses.
TXSYNC_EXPORT bool pin(unsigned cpu) noexcept;

/// How to spread threads over CPUs.
enum class placement : std::uint8_t {
  none,         ///< not pinned
  cores_first,  ///< one thread a core of one socket after the other, siblings last
  smt_first,    ///< fill a core's hardware threads before the next core
  socket        ///< cores_first, one socket only
};

/// The CPU for the index-th thread under `how` (index wraps around the CPUs that may be used). `socket` counts from 0
/// and is used by placement::socket only. Answers a number for pin(). Read from the topology once.
TXSYNC_EXPORT unsigned cpu_for(placement how, unsigned index, unsigned socket = 0) noexcept;

/// The number of sockets that cpu_for() knows, at least 1.
TXSYNC_EXPORT unsigned socket_count() noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::machine

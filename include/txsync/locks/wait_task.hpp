// SPDX-License-Identifier: Apache-2.0
// The wait task: what a thread runs while it waits for a lock, instead of pausing.
#pragma once

#include <cstdint>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

/// A wait, as its waiter sees it.
struct lock_wait {
  /// Whether the waiter has the lock, or may take it. Cost: a load or two.
  bool over() const noexcept { return is_over(place, ticket); }

  bool (*is_over)(const void* place, std::uint64_t ticket) noexcept;
  const void* place;
  std::uint64_t ticket;
  /// How many threads get the lock before the waiter, the present holder included; 1 if the lock keeps no order.
  std::uint32_t ahead;
};

/// A wait task. A lock's lock(wait_task&) calls it before the waiter pauses, on the waiting thread.
/// Contract for the callee: it returns soon after the wait is over, throws nothing, and does not use the lock.
class wait_task {
 public:
  enum class result : std::uint8_t {
    nothing,  ///< there was nothing to run: the waiter pauses
    ran,      ///< it has run something: the waiter looks at the lock again
    /// The thread is in an always-abort attempt (machine::warm_begin()). lock() returns false, and the critical section
    /// that the caller goes on to run is undone. When the attempt ends, execution is here once more.
    in_attempt,
    time [[deprecated("ran")]] = ran,
    inside_attempt [[deprecated("in_attempt")]] = in_attempt
  };
  virtual result run_once(const lock_wait& wait) noexcept = 0;

 protected:
  ~wait_task() = default;
};

/// The former name, with the former names of its members.
class [[deprecated("wait_task")]] pastime : public wait_task {
 public:
  using spent = result;
  virtual spent spend(const lock_wait& wait) noexcept = 0;
  /// Not inline: otherwise, where locks call a task, GCC would first compare the function with this one.
  TXSYNC_EXPORT result run_once(const lock_wait& wait) noexcept final;

 protected:
  ~pastime() = default;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND

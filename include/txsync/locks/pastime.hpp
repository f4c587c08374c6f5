// SPDX-License-Identifier: Apache-2.0
// What a thread does while it waits for a lock, where it has something better to do than to pause.
#pragma once

#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND {

/// A wait as the waiter sees it.
struct lock_wait {
  /// Whether the lock is the waiter's, or may be had. A load or two.
  bool over() const noexcept { return is_over(place, ticket); }

  bool (*is_over)(const void* place, std::uint64_t ticket) noexcept;
  const void* place;
  std::uint64_t ticket;
  /// How many threads have the lock before the waiter gets it; 1 where the lock has no order.
  std::uint32_t ahead;
};

/// What the waiter does instead. A lock's lock(pastime&) calls it, on the waiting thread, before it pauses.
/// Contract for the callee: it leaves soon after the wait is over, throws nothing, and does not use the lock.
class pastime {
 public:
  enum class spent : std::uint8_t {
    nothing,  ///< it had nothing to do: the waiter pauses
    time,     ///< the waiter looks at the lock again
    /// The thread is in an always-abort attempt (machine::warm_begin()): lock() returns false, and the section that the
    /// caller goes on to run is undone. The attempt's end is here once more.
    inside_attempt
  };
  virtual spent spend(const lock_wait& wait) noexcept = 0;

 protected:
  ~pastime() = default;
};

}  // namespace txsync::inline TXSYNC_BACKEND

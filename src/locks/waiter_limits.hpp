// SPDX-License-Identifier: Apache-2.0
// How many waiters may be counted: as many as the words have room for. Explorations lower that, to see what happens to
// one more waiter. They raise it to see that the check is needed.
#pragma once

#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::detail {

struct waiter_limits {
  std::uint32_t at_condition = 0xFFFF;  ///< inside a condition_variable, notified or not
  std::uint32_t in_line = 0xFFF;        ///< in line at a futex_mutex; the numbers are twice as many plus two
  std::uint32_t aside = 31;             ///< at a futex_mutex, with a deadline or a real-time priority
  std::uint32_t asleep = 0xFFF;         ///< at a futex_rwlock, of each kind
  std::uint32_t tickets_left = 256;     ///< entries of the list of left_tickets.hpp
};
/// Read by waiters, only on slow paths. To be changed before an exploration's threads start.
extern constinit waiter_limits max_waiters;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::detail

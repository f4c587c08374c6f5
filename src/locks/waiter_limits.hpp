// SPDX-License-Identifier: Apache-2.0
// How many waiters may be counted: as many as the words have room for. Explorations lower that, to see what happens to
// one more, or raise it, to see that the check is needed.
#pragma once

#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::detail {

struct waiter_limits {
  std::uint32_t at_condition = 0xFFFF;  ///< inside a condition_variable, notified or not
  std::uint32_t in_line = 0xFFF;        ///< of a futex_mutex; numbers are twice as many and two more
  std::uint32_t aside = 31;             ///< of it, with a deadline or a real-time priority
  std::uint32_t asleep = 0xFFF;         ///< at a futex_rwlock, of each kind
  std::uint32_t tickets_left = 256;     ///< places on the list of left_tickets.hpp
};
/// Read by waiters on their slow ways only. To be changed before an exploration's threads start.
extern constinit waiter_limits max_waiters;

}  // namespace txsync::inline TXSYNC_BACKEND::detail

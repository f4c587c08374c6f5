// SPDX-License-Identifier: Apache-2.0
// A lock whose algorithm is named by a value beside it. src/locks/tagged_lock.hpp acquires and releases it. It is a
// member of two layouts: policy_mutex, and preload::mutex_state, in which the C library's owner and kind keep their
// offsets.
#pragma once

#include <cstdint>

#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/priority_tatas.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/locks/ticket.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::detail {

/// How such a lock is acquired.
enum class algorithm : std::uint8_t {
  unknown,        ///< no thread has taken it yet
  libc,           ///< a pthread lock that is left to the C library: these words belong to it
  futex,          ///< futex_mutex; this and the next one have a fast path
  checked_futex,  ///< futex_mutex of a pthread mutex that is recursive or error-checking
  tatas,
  ticket,
  fifo_ticket,
  spin,           ///< futex_mutex whose waiters spin, as those of spinning_mutex
  watched_futex,  ///< futex_mutex of a pthread mutex whose locking order is watched
  priority_tatas,
  /// For pthread locks only. The site says which algorithm it is, and whether critical sections run as attempts or
  /// ahead of time.
  by_role,
  by_role_uncounted,
};

/// The lock itself. The algorithm says which member is in use. All bits zero is an unlocked lock of each kind; no
/// destructor does anything.
union lock_words {
  constexpr lock_words() noexcept : futex() {}
  futex_mutex futex;
  tatas_lock tatas;
  priority_tatas_lock priority;
  ticket_queue queue;
};
static_assert(sizeof(lock_words) == 8);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::detail

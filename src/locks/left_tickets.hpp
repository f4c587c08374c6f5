// SPDX-License-Identifier: Apache-2.0
// How a thread waits for its ticket until a deadline. If the deadline passes, the ticket stays in the queue. The thread
// puts the ticket on a list, with the lock's address. Whoever serves the ticket passes it on. All locks share one list,
// which is nearly always empty: a ticket lock has no room for more than two numbers.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/locks/ticket.hpp>
#include <txsync/machine/asymmetric.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::detail {

/// Tickets on the list.
extern constinit std::atomic<std::uint32_t> tickets_left;

enum class timed_wait : std::uint8_t {
  served,   ///< the calling thread holds the lock
  expired,  ///< the deadline has passed; there is nothing to undo
  no_room,  ///< the list is full of threads that wait so, with any lock; no ticket was drawn
};
/// Whether the threads before the caller will see the list. If not, the caller waits past its deadline.
struct may_leave {
  bool (*answer)(const void* context);
  const void* context;
};
/// Draws a ticket and waits until machine::clock_ns() reaches the deadline. Cost of an expired wait: a heavy_fence().
timed_wait draw_and_wait_until(ticket_queue& queue, std::uint64_t deadline, may_leave ask = {}) noexcept;

/// See pass_on_left().
void pass_on_listed(ticket_queue& queue, std::uint32_t served) noexcept;

/// To be called after each serve_next() of a lock with such waiters. `served`: the ticket that was served. If its
/// thread has left, the next ticket is served, and so on. It accesses the queue only then: otherwise the queue may be
/// gone.
[[gnu::always_inline]] inline void pass_on_left(ticket_queue& queue, std::uint32_t served) noexcept {
  machine::light_fence();  // pairs with the heavy_fence() of the thread that leaves
  // relaxed: ordered by the fence
  if (tickets_left.load(std::memory_order_relaxed) != 0) [[unlikely]]
    pass_on_listed(queue, served);
}

/// How many tickets have ever been put on the list. Wraps around.
extern constinit std::atomic<std::uint32_t> tickets_listed;

/// The memory at that address becomes a new lock. Tickets of an old lock that was never given up mean nothing. `so_far`
/// is tickets_listed, read before the new lock was seen to be unused. Later tickets may belong to the new lock.
void forget_listed(const void* queue, std::uint32_t so_far) noexcept;
inline void forget_left(const void* queue, std::uint32_t so_far) noexcept {
  // relaxed: the thread that makes a lock there knows that nobody waits for the old one
  if (tickets_left.load(std::memory_order_relaxed) != 0) [[unlikely]]
    forget_listed(queue, so_far);
}

/// In the child of a fork, where the threads that waited do not exist. To be called before anybody uses the list there.
/// The first user of the list does it if the program has not.
void forget_all_left() noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::detail

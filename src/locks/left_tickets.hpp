// SPDX-License-Identifier: Apache-2.0
// How a thread waits for its ticket with a deadline. If that passes, its ticket stays in the queue, and is put on a
// list with the lock's address; whoever serves the ticket passes it on. The list is one for all locks, since a ticket
// lock has no room for more than two numbers, and empty nearly always.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/locks/ticket.hpp>
#include <txsync/machine/asymmetric.hpp>

namespace txsync::inline TXSYNC_BACKEND::detail {

/// Tickets on the list.
extern constinit std::atomic<std::uint32_t> tickets_left;

enum class timed_wait : std::uint8_t {
  served,   ///< the calling thread holds the lock
  expired,  ///< the deadline has passed; there is nothing to undo
  no_room,  ///< as many threads wait so, with any lock, as the list has room for; no ticket was drawn
};
/// Whether those before the calling thread will see the list. Where not, it stays for longer than its deadline.
struct may_leave {
  bool (*answer)(const void* context);
  const void* context;
};
/// Draws a ticket and waits until machine::clock_ns() reaches the deadline. Cost of an expired wait: a heavy_fence().
timed_wait draw_and_wait_until(ticket_queue& queue, std::uint64_t deadline, may_leave ask = {}) noexcept;

/// See pass_on_left().
void pass_on_listed(ticket_queue& queue, std::uint32_t served) noexcept;

/// After each serve_next() of a lock for which threads may wait so. `served`: the ticket that was served. If its thread
/// has left, the next one is served, and so on. Touches the queue only then: it may be gone otherwise.
[[gnu::always_inline]] inline void pass_on_left(ticket_queue& queue, std::uint32_t served) noexcept {
  machine::light_fence();  // pairs with the heavy_fence() of the thread that leaves
  // relaxed: ordered by the fence
  if (tickets_left.load(std::memory_order_relaxed) != 0) [[unlikely]]
    pass_on_listed(queue, served);
}

/// How many have ever been put on the list; wraps around.
extern constinit std::atomic<std::uint32_t> tickets_listed;

/// The memory at that address becomes a new lock: tickets of an old one that was never given up mean nothing. `so_far`:
/// tickets_listed, read before the new lock was seen to be unused. Later tickets may be its own.
void forget_listed(const void* queue, std::uint32_t so_far) noexcept;
inline void forget_left(const void* queue, std::uint32_t so_far) noexcept {
  // relaxed: who makes a lock there knows that nobody waits for the old one
  if (tickets_left.load(std::memory_order_relaxed) != 0) [[unlikely]]
    forget_listed(queue, so_far);
}

/// In the child of a fork, where those that waited do not exist: before anybody uses the list there. Who uses it first
/// does this, if the program has not.
void forget_all_left() noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::detail

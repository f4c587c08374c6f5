// SPDX-License-Identifier: Apache-2.0
#include "left_tickets.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/thread.hpp>

#include "backoff.hpp"
#include "once_in_child.hpp"
#include "waiter_limits.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::detail {

constinit std::atomic<std::uint32_t> tickets_left{0};
constinit std::atomic<std::uint32_t> tickets_listed{0};

namespace {

/// An entry of the list. All accesses are sequentially consistent: they are rare.
struct listed_ticket {
  /// The low bits say whose the entry is. The bits above them count how often that has changed. If two reads of the
  /// state are equal, what is read of queue and ticket between them belongs together.
  enum : std::uint32_t { free, reserved, left, state_bits = 3 };
  std::atomic<std::uint32_t> state{free};
  std::atomic<const void*> queue{nullptr};
  std::atomic<std::uint32_t> ticket{0};
  std::atomic<std::uint32_t> number{0};  // the value of tickets_listed when it was listed

  bool change_state(std::uint32_t seen, std::uint32_t to) noexcept {
    return state.compare_exchange_strong(seen, ((seen | state_bits) + 1) | to);
  }
  void set_state(std::uint32_t to) noexcept { state.store(((state.load() | state_bits) + 1) | to); }
  /// Takes the ticket off the list, if it is in this entry. `to`: the entry's next state.
  bool take(const void* of, std::uint32_t which, std::uint32_t to) noexcept {
    const std::uint32_t seen = state.load();
    if ((seen & state_bits) != left || queue.load() != of || ticket.load() != which) return false;
    if (!change_state(seen, to)) return false;
    tickets_left.fetch_sub(1);
    return true;
  }
};

constexpr std::uint32_t max_listed = waiter_limits().tickets_left;
constinit listed_ticket listed[max_listed] = {};

listed_ticket* reserve() noexcept {
  for (listed_ticket& one : std::span(listed).first(max_waiters.tickets_left)) {
    const std::uint32_t seen = one.state.load();
    if ((seen & listed_ticket::state_bits) == listed_ticket::free && one.change_state(seen, listed_ticket::reserved))
      return &one;
  }
  return nullptr;
}

/// One thread puts its ticket on the list and then checks whether it is served. The other thread serves the ticket and
/// then checks the list. The fences ensure that one of them sees the other. If both do, the entry's state decides.
bool leaves(listed_ticket& place, ticket_queue& queue, std::uint32_t ticket) noexcept {
  place.queue.store(&queue);
  place.ticket.store(ticket);
  place.number.store(tickets_listed.fetch_add(1) + 1);
  tickets_left.fetch_add(1);  // first, so that the count is never below the number of tickets on the list
  place.set_state(listed_ticket::left);
  machine::heavy_fence();
  return !queue.is_served(ticket) || !place.take(&queue, ticket, listed_ticket::reserved);
}

/// To be called before the list is read or written. In the child of a fork nobody waits for the tickets on it.
void renew_list() noexcept {
  static constinit std::atomic<std::uint32_t> done_for{0};
  (void)once_in_child(done_for, forget_all_left);
}

constexpr std::uint64_t cycles_a_place = 256;        // of pause, as for other waiters
constexpr std::uint64_t ns_a_place_asleep = 50'000;  // about the time that other waiters sleep for each thread ahead

}  // namespace

timed_wait draw_and_wait_until(ticket_queue& queue, std::uint64_t deadline, may_leave ask) noexcept {
  renew_list();
  listed_ticket* const place = reserve();
  if (place == nullptr) return timed_wait::no_room;
  const std::uint32_t ticket = queue.draw();
  patient_spin patience;
  while (!queue.is_served(ticket)) {
    const std::uint64_t now = machine::clock_ns();
    const bool is_late = now >= deadline;
    if (is_late && (ask.answer == nullptr || ask.answer(ask.context))) {
      if (leaves(*place, queue, ticket)) return timed_wait::expired;
      break;
    }
    const std::uint32_t ahead = queue.distance_to(ticket);
    const std::uint64_t affordable = is_late ? 1 : std::max<std::uint64_t>((deadline - now) / ns_a_place_asleep, 1);
    patience.wait(ahead > 1 ? (ahead - 1) * cycles_a_place : 0,
                  static_cast<std::uint32_t>(std::clamp<std::uint64_t>(ahead, 1, affordable)));
  }
  place->set_state(listed_ticket::free);
  machine::fence();  // before this holder checks the passive set (concurrency_limiter.cpp)
  return timed_wait::served;
}

[[gnu::noinline]] void pass_on_listed(ticket_queue& queue, std::uint32_t served) noexcept {
  renew_list();
  const auto take = [&](listed_ticket& one) noexcept { return one.take(&queue, served, listed_ticket::free); };
  // A served thread that still waits gives the lock up itself.
  while (std::any_of(std::begin(listed), std::end(listed), take)) {
    served = ticket_queue::ticket_after(served);
    queue.serve_next();
    machine::light_fence();  // as in pass_on_left()
  }
}

void forget_listed(const void* queue, std::uint32_t so_far) noexcept {
  renew_list();
  for (listed_ticket& one : listed) {
    const std::uint32_t seen = one.state.load();
    const bool is_old = static_cast<std::int32_t>(one.number.load() - so_far) <= 0;
    if ((seen & listed_ticket::state_bits) == listed_ticket::left && one.queue.load() == queue && is_old)
      if (one.change_state(seen, listed_ticket::free)) tickets_left.fetch_sub(1);
  }
}

void forget_all_left() noexcept {
  for (listed_ticket& one : listed) one.set_state(listed_ticket::free);
  tickets_left.store(0);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::detail

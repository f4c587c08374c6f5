// SPDX-License-Identifier: Apache-2.0
#include <txsync/locks/ticket.hpp>
#include <txsync/machine/attempt.hpp>

#include "backoff.hpp"
#include "left_tickets.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND {

namespace {
constexpr std::uint64_t pause_a_place = 256;  // cycles of pause for each thread ahead but the first
}  // namespace

namespace detail {

bool ticket_queue::note_served_if(bool got) const noexcept {
  return machine::annotate_unseen_acquire_if(got, &serving_);
}
void ticket_queue::note_end() const noexcept { machine::annotate_unseen_release(&serving_); }

bool ticket_queue::wait(std::uint32_t ticket, wait_task* task) noexcept {
  const auto is_over = [](const void* self, std::uint64_t mine) noexcept {
    const auto& queue = *static_cast<const ticket_queue*>(self);
    const auto drawn = static_cast<std::uint32_t>(mine);
    // relaxed: wait() reads again
    return queue.is_served(drawn) || is_passed_over(drawn, queue.serving_.load(std::memory_order_relaxed));
  };
  patient_spin patience;
  for (;;) {
    const std::uint32_t serving = serving_.load(std::memory_order_acquire);  // pairs with serve_next()
    if (serving == ticket) break;
    if (is_passed_over(ticket, serving)) {
      ticket = draw();
      continue;
    }
    const std::uint32_t ahead = (ticket - serving) / turn;
    if (task != nullptr) {
      const wait_task::result result = task->run_once({is_over, this, ticket, ahead});
      if (result == wait_task::result::in_attempt) return false;
      if (result == wait_task::result::ran) continue;
    }
    patience.wait((ahead - 1) * pause_a_place, ahead);
  }
  machine::annotate_unseen_acquire(&serving_);
  machine::fence();  // before this holder checks the passive set (concurrency_limiter.cpp)
  return true;
}

/// Threads that draw in the meantime get tickets of the child, and are served in their turn.
void ticket_queue::renew_in_child() noexcept {
  const std::uint32_t here = machine::fork_count() & process_bits;
  std::uint32_t next = next_.load(std::memory_order_relaxed);  // relaxed, here and below: only numbers
  const std::uint32_t serving = serving_.load(std::memory_order_relaxed);
  if ((serving & process_bits) == here || serving == next) return;
  std::uint32_t mine;
  do {
    mine = (ticket_after(next) & ~process_bits) | here;
  } while (!next_.compare_exchange_weak(next, ticket_after(mine), std::memory_order_relaxed));
  serving_.store(mine, std::memory_order_relaxed);  // relaxed: the lock stays the caller's
}

bool limited_ticket::lock_limited(limited_ticket whole, wait_task* task) noexcept {
  if (!whole.limiter_.crowded(whole.queue_.active(), task != nullptr)) {
    const std::uint32_t ticket = whole.queue_.draw();
    const bool got = whole.queue_.is_served(ticket) || whole.queue_.wait(ticket, task);
    return whole.queue_.note_served_if(got);
  }
  const auto still_crowded = [](void* self) {
    const auto& lock = *static_cast<const limited_ticket*>(self);
    return lock.limiter_.crowded(lock.queue_.active(), false);
  };
  const auto kick = [](void* self) {
    const auto& lock = *static_cast<const limited_ticket*>(self);
    lock.queue_.wait(lock.queue_.draw());
    const concurrency_limiter::hand_over passed_on(lock.limiter_, concurrency_limiter::others::visitor);
    const std::uint32_t next = ticket_queue::ticket_after(lock.queue_.ticket_of_holder());
    lock.queue_.serve_next();
    pass_on_left(lock.queue_, next);
  };
  const auto is_held = [](void* self) { return static_cast<const limited_ticket*>(self)->queue_.is_held(); };
  whole.limiter_.wait_in_passive_set({still_crowded, kick, is_held, &whole});
  if (!whole.queue_.wait(whole.queue_.draw(), task)) return false;
  whole.limiter_.note_admitted();
  return true;
}

void limited_ticket::unlock_limited(limited_ticket whole) noexcept {
  whole.queue_.note_end();
  const concurrency_limiter::hand_over passed_on(whole.limiter_, whole.other_active());
  whole.queue_.serve_next();
}

concurrency_limiter::others limited_ticket::other_active() const noexcept {
  return queue_.active() == 1 ? concurrency_limiter::others::nobody : concurrency_limiter::others::some;
}

}  // namespace detail

}  // namespace txsync::TXSYNC_INLINE_BACKEND

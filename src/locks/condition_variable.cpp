// SPDX-License-Identifier: Apache-2.0
// Each thread inside is a waiter or a leaver. A notification turns a waiter into a leaver; which one is decided by who
// leaves. A thread that leaves because of a notification is a leaver where there is one; else it was woken by another's
// notification, and takes itself out of the waiters. So there are at least as many waiters in the count as threads that
// only a notification will wake, which is why none is lost; and when the last has been notified all are leavers, which
// is what the destructor waits for. A thread whose time is up takes itself out of the waiters, in one step with the
// proof that no notification has come since it entered.
#include <txsync/condition_variable.hpp>

#include "backoff.hpp"

namespace txsync::inline TXSYNC_BACKEND {

bool condition_variable::sleep(std::uint64_t ticket, std::uint64_t deadline) noexcept {
  const auto entered = static_cast<std::uint32_t>(ticket >> 32);
  for (;;) {
    const machine::park_result how = machine::park_high(state_, entered, deadline);
    // relaxed: data is ordered by the caller's mutex. release, below: the last touch, for the destructor's acquire
    std::uint64_t seen = state_.load(std::memory_order_relaxed);
    for (;;) {
      const bool notified = static_cast<std::uint32_t>(seen >> 32) != entered;
      if (!notified && how != machine::park_result::timed_out) break;
      const std::uint64_t self = notified && (seen & leavers_bits) != 0 ? leaver : waiter;
      if (state_.compare_exchange_weak(seen, seen - self, std::memory_order_release, std::memory_order_relaxed))
        return notified;
    }
  }
}

bool condition_variable::announce(std::uint64_t how_many) noexcept {
  std::uint64_t seen = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  std::uint64_t told;
  do {
    const std::uint64_t waiting = seen & waiters_bits;
    if (waiting == 0) return false;
    told = waiting < how_many ? waiting : how_many;
    // relaxed: data is ordered by the callers' mutex
  } while (
      !state_.compare_exchange_weak(seen, seen + notification + told * (leaver - waiter), std::memory_order_relaxed));
  return true;
}

void condition_variable::wake(const condition_variable* waited_on, std::uint64_t how_many) noexcept {
  machine::unpark_high(waited_on->state_, how_many == waiters_bits ? machine::everyone : 1);
}

void condition_variable::notify(std::uint64_t how_many) noexcept {
  if (announce(how_many)) wake(this, how_many);
}

/// Waits for the notified. Threads that still wait un-notified break the destructor's rule, but are no reason to hang
/// (static variables at the end of a process).
void condition_variable::await_leavers() noexcept {
  detail::patient_spin patience;
  // acquire pairs with the release in sleep()
  while ((state_.load(std::memory_order_acquire) & leavers_bits) != 0) patience.wait(0);
}

std::cv_status condition_variable::wait_until_ns(std::unique_lock<mutex>& lock, std::uint64_t deadline) noexcept {
  site& place = lock.mutex()->place();
  const std::uint64_t start = machine::cycles();
  const std::uint64_t ticket = enter();
  lock.unlock();
  const bool notified = sleep(ticket, deadline);
  const std::uint64_t waited = machine::cycles() - start;
  lock.lock();
  observe::detail::condition_waited(observe::detail::counted_id(place), waited);
  return notified ? std::cv_status::no_timeout : std::cv_status::timeout;
}

}  // namespace txsync::inline TXSYNC_BACKEND

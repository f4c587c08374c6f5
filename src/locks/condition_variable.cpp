// SPDX-License-Identifier: Apache-2.0
// Two counts in the word: waiters, which wait and have not been notified, and leavers, which were notified and have not
// left yet. A notification turns a waiter into a leaver. Which thread that is, is decided when threads leave:
//  - A thread that sees a notification takes itself out of the leavers, if there is one.
//  - Otherwise another thread has left for this notification. The thread takes itself out of the waiters.
//  - A thread whose deadline has passed takes itself out of the waiters. The same exchange proves that no notification
//    has come since it entered.
//
// So the count has at least as many waiters as there are threads that only a notification will wake: no notification is
// lost. When the last waiter has been notified, all threads inside are leavers. The destructor waits for these.
//
// A thread that enters when the count has no waiters watches the number for a while before it sleeps. The bit `watched`
// says so. Threads that are counted later came later, so the watcher has waited longest. A notification that finds the
// bit is for the watcher. The same exchange clears the bit, and only further notified threads need a wake-up. The
// watcher clears the bit itself by an exchange that proves that no notification has come. From then on it is a waiter
// like any other.
//
// So a waiter watches or is woken. A sleeper may sleep with either value of the bit: the kernel compares the word with
// what the thread saw last.
#include <txsync/condition_variable.hpp>
#include <txsync/machine/assert.hpp>
#include <txsync/machine/attempt.hpp>

#include "backoff.hpp"
#include "deferred_wakes.hpp"
#include "waiter_limits.hpp"
#include "watching.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND {

namespace {
constexpr std::uint64_t nap_ns = 1'000'000;
}  // namespace

/// In the child of a fork the parent's other threads do not exist. Whoever is counted there has entered there.
std::uint64_t condition_variable::without_parents_threads(std::uint64_t seen) noexcept {
  const std::uint64_t here = std::uint64_t{machine::fork_count()} << process_shift & process_bits;
  return (seen & process_bits) == here ? seen : (seen & ~(notification - 1)) | here;
}

std::uint64_t condition_variable::enter(mutex* guard) noexcept {
  // As many as each of the two counts can hold.
  static_assert(detail::waiter_limits().at_condition == waiters_bits && waiters_bits == leavers_bits / leaver);
  TXSYNC_ASSERT((without_parents_threads(state_.load(std::memory_order_relaxed)) & waiters_bits) == 0 ||
                    guard == nullptr || guard_.load(std::memory_order_relaxed) == nullptr ||
                    guard_.load(std::memory_order_relaxed) == guard,
                "all concurrent waiters use the same mutex");
  // relaxed, both: published by the exchange below
  if (guard_.load(std::memory_order_relaxed) != guard) guard_.store(guard, std::memory_order_relaxed);
  std::uint64_t seen = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  for (;;) {
    const std::uint64_t before = without_parents_threads(seen);
    if ((before & waiters_bits) + (before & leavers_bits) / leaver >= detail::max_waiters.at_condition) [[unlikely]]
      return no_room;
    const bool alone = (before & waiters_bits) == 0 && detail::may_watch();
    const std::uint64_t mine = alone ? watched : 0;
    // release pairs with the acquire in notify(), for `guard_`; the unlock that follows publishes the rest
    if (state_.compare_exchange_weak(seen, (before | mine) + waiter, std::memory_order_release,
                                     std::memory_order_relaxed))
      return (seen & ~(notification - 1)) | mine;
  }
}

/// Reads the word until a notification has come, or for long enough. Then it clears the bit.
void condition_variable::watch(std::uint64_t ticket, std::uint64_t deadline) noexcept {
  std::uint64_t seen = state_.load(std::memory_order_relaxed);  // relaxed, both: see sleep()
  // A deadline that passes during the watch is seen a moment later.
  if (deadline == machine::no_deadline || machine::clock_ns() < deadline) {
    (void)detail::watch([&]() noexcept {
      seen = state_.load(std::memory_order_relaxed);
      return differ(seen, ticket);
    });
  }
  while (!differ(seen, ticket)) {
    // relaxed: turns this thread into a sleeper; a notifier sees that or is seen, since both change the one word
    if (state_.compare_exchange_weak(seen, seen & ~watched, std::memory_order_relaxed)) return;
  }
}

/// Takes the thread out if it has been notified or is late. Returns whether it did.
bool condition_variable::leave(std::uint64_t& seen, std::uint64_t ticket, bool late) noexcept {
  while (late || differ(seen, ticket)) {
    const std::uint64_t self = differ(seen, ticket) && (seen & leavers_bits) != 0 ? leaver : waiter;
    // release: the last access, for the destructor's acquire
    if (state_.compare_exchange_weak(seen, seen - self, std::memory_order_release, std::memory_order_relaxed))
      return true;
  }
  return false;
}

/// The wait of a thread that has no room in the counts. It ends by itself.
bool condition_variable::sleep_outside(std::uint64_t deadline) noexcept {
  return detail::nap(nap_ns, deadline) && !detail::is_past(deadline);
}

bool condition_variable::sleep(std::uint64_t ticket, std::uint64_t deadline) noexcept {
  if (ticket == no_room) [[unlikely]]
    return sleep_outside(deadline);
  if ((ticket & watched) != 0) watch(ticket, deadline);
  // relaxed, here and below: data is ordered by the caller's mutex
  std::uint64_t seen = state_.load(std::memory_order_relaxed);
  bool late = false;
  while (!leave(seen, ticket, late)) {
    const auto high = static_cast<std::uint32_t>(seen >> 32);
    late = machine::park_high(state_, high, deadline) == machine::park_result::timed_out;
    seen = state_.load(std::memory_order_relaxed);
  }
  return differ(seen, ticket);
}

/// False if nobody waits, or only a thread that watches.
bool condition_variable::announce(std::uint64_t how_many) noexcept {
  std::uint64_t seen = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  std::uint64_t told;
  do {
    const std::uint64_t waiting = seen & waiters_bits;
    if (waiting == 0) return false;
    told = waiting < how_many ? waiting : how_many;
    // relaxed: data is ordered by the callers' mutex
  } while (!state_.compare_exchange_weak(seen, (seen & ~watched) + notification + told * (leaver - waiter),
                                         std::memory_order_relaxed));
  return told != 1 || (seen & watched) == 0;
}

void condition_variable::wake(const condition_variable* waited_on, std::uint64_t how_many) noexcept {
  machine::unpark_high(waited_on->state_, how_many == waiters_bits ? machine::everyone : 1);
}

void condition_variable::notify(std::uint64_t how_many) noexcept {
  // acquire pairs with the release in enter(), for the waiters' guard
  if ((state_.load(std::memory_order_acquire) & waiters_bits) == 0) return;
  mutex* const guard = guard_.load(std::memory_order_relaxed);
  if (!announce(how_many)) return;
  // To wake them now, on the holder's CPU, would cost two more context switches. No member is accessed from here on.
  const bool is_held = guard != nullptr && guard == detail::newest_held;
  if (is_held && detail::defer_wake(state_, how_many == waiters_bits, guard)) {
    guard->wake_told_at_unlock();
  } else {
    wake(this, how_many);
  }
}

/// Waits for the notified threads. Threads that wait without a notification break the destructor's rule. But they are
/// no reason to hang (static variables at the end of a process).
void condition_variable::await_leavers() noexcept {
  // A thread that has deferred their wake-ups may wait for the caller. All are notified, so every wake-up is useful.
  machine::unpark_high(state_, machine::everyone);
  detail::patient_spin patience;
  // acquire pairs with the release in leave()
  while ((without_parents_threads(state_.load(std::memory_order_acquire)) & leavers_bits) != 0) patience.wait(0);
}

std::cv_status condition_variable::wait_until_ns(std::unique_lock<mutex>& lock, std::uint64_t deadline) noexcept {
  site& the_site = lock.mutex()->get_site();
  const std::uint64_t start = machine::cycles();
  const futex_mutex* const guard = &lock.mutex()->core_;
  const std::uint64_t ticket = enter(lock.mutex());
  machine::annotate_unseen_release(guard);
  lock.unlock();
  const bool notified = sleep(ticket, deadline);
  const std::uint64_t waited = machine::cycles() - start;
  lock.lock();
  machine::annotate_unseen_acquire(guard);
  observe::detail::condition_waited(observe::detail::counted_id(the_site), waited);
  return notified ? std::cv_status::no_timeout : std::cv_status::timeout;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND

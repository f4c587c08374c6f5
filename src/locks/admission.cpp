// SPDX-License-Identifier: Apache-2.0
// Why nobody sleeps outside for ever: a thread is numbered before it looks at the lock again (seq_cst, with a fence
// between). If it then sees a waiter inside, that waiter will hold the lock later, will see the number when it gives
// the lock up (it fences after it got the lock), and will call when it is time. If it sees none, it goes in past the
// door itself, holds the lock for a moment and calls the oldest when it is time; else it sleeps for a while and looks
// again. Whoever is called is on its way to the lock, and looks after those outside when it gives the lock up.
#include <txsync/locks/admission.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/thread.hpp>

#include "backoff.hpp"
#include "sleeping_places.hpp"

namespace txsync::inline TXSYNC_BACKEND {

namespace {

constexpr std::uint32_t look_at_clock_every = 64;
constexpr unsigned looks_at_free_lock = 20;
constexpr std::uint32_t process_bits = 0x7F;
constexpr std::uint64_t pause_between_looks = 500;  // cycles
constinit std::uint32_t patience_now = admission::patience;

constexpr std::uint64_t call_distance_ns = 1'000'000;
/// In units of 1024 cycles, as admission::last_call_; wraps around after half an hour, when a wrong answer makes one
/// thread wait for a millisecond more.
std::uint32_t coarse_clock() noexcept { return static_cast<std::uint32_t>(machine::cycles() >> 10); }
std::uint32_t call_distance() noexcept {
  return static_cast<std::uint32_t>((machine::cycles_per_second() / 1000) >> 10);
}

}  // namespace

void detail::lower_patience(std::uint32_t acquisitions) noexcept {
  patience_now = acquisitions != 0 ? acquisitions : admission::patience;
}

/// A CPU for each, of which two are there always. Whoever is on its way in needs one as well, and where others stay
/// outside there are not enough anyway: its way is kept clear. Where nobody does, all may have their CPU, and who
/// stands in the queue is not counted twice. Two CPUs then have one thread inside, which saves it the hand-overs, but
/// for newcomers that warm up beside its section.
std::uint32_t admission::limit(bool works) const noexcept {
  const std::uint32_t cpus = machine::cpu_count() > always_inside ? machine::cpu_count() : always_inside;
  // relaxed: hints
  const called guest = called_.load(std::memory_order_relaxed);
  if (guest == called::nobody) return cpus;
  const bool more = outside_called_.load(std::memory_order_relaxed) != outside_.load(std::memory_order_relaxed);
  if (more) return cpus > 2 || works ? cpus - 1 : 0;
  return guest == called::queues ? cpus : cpus - 1;
}

void admission::wait_outside(const lock_view& lock) noexcept {
  if (!busy()) become_this_process();
  const std::uint32_t number = outside_.fetch_add(1, std::memory_order_seq_cst);
  machine::fence();  // the number before the second look; pairs with the fence of contended owners
  detail::sleeping_place& place = detail::place_of(this, number);
  for (bool woken = false;;) {
    const std::uint32_t ticket = place.ticket();
    // seq_cst: against the change of the place in release_passed()
    const auto ahead = static_cast<std::int32_t>(number - outside_called_.load(std::memory_order_seq_cst));
    if (ahead < 0) break;
    // Woken and not called: the thread that came in before gave up a lock for which no thread waited. It may come back.
    if (woken ? stays_free(lock) : !lock.still_crowded(lock.context)) {
      lock.kick(lock.context);
      if (static_cast<std::int32_t>(number - outside_called_.load(std::memory_order_seq_cst)) < 0) break;
    }
    const std::uint64_t until = machine::clock_ns() + call_distance_ns * (static_cast<std::uint64_t>(ahead) + 1);
    woken = place.sleep(ticket, until) != machine::park_result::timed_out;
  }
  // relaxed: a hint for newcomers
  called_.store(called::queues, std::memory_order_relaxed);
}

/// Whether the lock is free at each of several reads.
bool admission::stays_free(const lock_view& lock) noexcept {
  for (unsigned looks = 0; looks < looks_at_free_lock; ++looks) {
    if (lock.is_held(lock.context)) return false;
    detail::pause_for(pause_between_looks);
  }
  return true;
}

void admission::came_in() noexcept {
  // relaxed: hints for newcomers; the next holder sees them through the lock
  called_.store(called::nobody, std::memory_order_relaxed);
  shut_.store(static_cast<std::uint8_t>(shut_.load(std::memory_order_relaxed) & ~shut), std::memory_order_relaxed);
  machine::fence();  // before this holder looks who is outside: a thread that still saw it called has a number by then
  passed_ = 0;
  last_call_ = coarse_clock();
}

detail::sleeping_place* admission::release_passed(others inside) noexcept {
  if (!is_of_this_process()) return call_all();
  if (passed_ < 0xFFFF) ++passed_;
  if (called_.load(std::memory_order_relaxed) != called::nobody) {  // relaxed: set to and from nobody by holders only
    // relaxed, both: a hint for newcomers, written by holders only
    if (passed_ >= patience_now) shut_.store(shut_.load(std::memory_order_relaxed) | shut, std::memory_order_relaxed);
    return nullptr;
  }
  // seq_cst: with the fences of contended owners and of those outside
  if (outside_called_.load(std::memory_order_seq_cst) == outside_.load(std::memory_order_seq_cst)) {
    return nullptr;
  }
  // A queue that is empty at this moment need not stay so: its threads may be back in no time. So nobody is called
  // twice within a millisecond, unless by a thread from outside that has found the lock free for a while.
  const bool stayed_free = inside == others::visitor;
  const bool look_at_clock = inside != others::some || passed_ % look_at_clock_every == 0;
  const bool long_ago = look_at_clock && coarse_clock() - last_call_ > call_distance();
  // relaxed: only holders write it
  const std::uint32_t number = outside_called_.load(std::memory_order_relaxed);
  if (!stayed_free && !long_ago && passed_ < patience_now) {
    // The first release by a called thread: the next one outside checks whether a thread comes back.
    const bool may_stay_free = inside == others::nobody && passed_ == 1;
    return may_stay_free ? &detail::place_of(this, number) : nullptr;
  }
  called_.store(called::comes, std::memory_order_relaxed);  // relaxed: a hint for newcomers
  passed_ = 0;
  last_call_ = coarse_clock();
  outside_called_.store(number + 1, std::memory_order_seq_cst);  // before the place changes: see wait_outside()
  return &detail::place_of(this, number);
}

/// By the count of forks, as many bits as have room.
std::uint8_t admission::mark_here() noexcept {
  return static_cast<std::uint8_t>((machine::fork_count() & process_bits) * (2 * shut));
}

bool admission::is_of_this_process() const noexcept {
  // relaxed: the holder sees what holders wrote through the lock; to others it is a hint
  return (shut_.load(std::memory_order_relaxed) & ~shut) == mark_here();
}

bool admission::is_parents() const noexcept {
  // relaxed: as in busy()
  return busy() && !is_of_this_process();
}

/// Nobody is outside, so nobody of a parent is: a lock that a child uses for the first time does not let everybody in.
/// Where the holder writes the old number over it, its next release calls all of them in.
void admission::become_this_process() noexcept {
  if (is_of_this_process()) return;
  std::uint8_t seen = shut_.load(std::memory_order_relaxed);  // relaxed, here and below: a hint for newcomers
  const auto marked = static_cast<std::uint8_t>(mark_here() | (seen & shut));
  shut_.compare_exchange_strong(seen, marked, std::memory_order_relaxed);
}

/// In the child of a fork, by the holder: those of the parent will not come. Threads of the child see that they have
/// been called when they look the next time; one is woken, since it came last.
detail::sleeping_place* admission::call_all() noexcept {
  // relaxed, both: hints for newcomers
  called_.store(called::nobody, std::memory_order_relaxed);
  shut_.store(mark_here(), std::memory_order_relaxed);
  passed_ = 0;
  last_call_ = coarse_clock();
  const std::uint32_t all = outside_.load(std::memory_order_seq_cst);  // seq_cst, both: as in release_passed()
  outside_called_.store(all, std::memory_order_seq_cst);
  return &detail::place_of(this, all - 1);
}

void admission::wake(detail::sleeping_place* called) noexcept {
  if (called != nullptr) called->wake();
}

}  // namespace txsync::inline TXSYNC_BACKEND

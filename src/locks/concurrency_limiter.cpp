// SPDX-License-Identifier: Apache-2.0
// The concurrency limiter of a fair lock. The active set is the holder and the waiters in the lock's queue.
// The threads of the passive set sleep.
//
// What is known of the thread that was called from the passive set:
//
// | `called_` | The called thread          | Next state                                                  |
// |-----------|----------------------------|-------------------------------------------------------------|
// | nobody    | there is none              | comes: a release calls the oldest thread of the passive set |
// | comes     | wakes up                   | queues: it returns from wait_in_passive_set()               |
// | queues    | stands in the lock's queue | nobody: it has the lock, and calls note_admitted()          |
//
// The flag `closed` of `closed_` is set while a thread is called and `patience` acquisitions have passed it. Then no
// newcomer enters the active set. note_admitted() clears the flag.
//
// What a release does when nobody is called and the passive set is not empty (hand_off()):
//
//  - It calls the oldest thread if the holder came past the limiter (others::visitor). It does the same if a
//    millisecond or `patience` acquisitions have passed since the last called thread came in. It reads the clock only
//    if no other waiter is active, or at every 64th acquisition.
//  - Otherwise it wakes the oldest thread without a call, if no other waiter is active and this is the first release by
//    a called thread. The woken thread comes in if the lock stays free.
//  - Otherwise it does nothing.
//
// Why no thread sleeps in the passive set for ever:
//  - A thread gets its number before it looks at the lock again (seq_cst, with a fence between).
//  - If it then sees an active waiter, that waiter will hold the lock later. It fences after it gets the lock. So it
//    sees the number when it gives the lock up, and calls when it is time.
//  - If it sees none, it acquires the lock past the limiter (`kick`), holds it for a moment, and calls the oldest
//    thread when it is time. If it is not called itself, it sleeps for a while and looks again.
//  - A called thread is on its way to the lock. When it gives the lock up, it checks the passive set.
#include <txsync/locks/concurrency_limiter.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/thread.hpp>

#include "backoff.hpp"
#include "sleeping_places.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND {

namespace {

constexpr std::uint32_t look_at_clock_every = 64;
constexpr unsigned looks_at_free_lock = 20;
constexpr std::uint32_t process_bits = 0x7F;
constexpr std::uint64_t pause_between_looks = 500;  // cycles
constinit std::uint32_t patience_now = concurrency_limiter::patience;

constexpr std::uint64_t call_distance_ns = 1'000'000;
/// In units of 1024 cycles, as concurrency_limiter::last_call_. It wraps around after half an hour. A wrong answer then
/// makes one thread wait for a millisecond more.
std::uint32_t coarse_clock() noexcept { return static_cast<std::uint32_t>(machine::cycles() >> 10); }
std::uint32_t call_distance() noexcept {
  return static_cast<std::uint32_t>((machine::cycles_per_second() / 1000) >> 10);
}

}  // namespace

void detail::lower_patience(std::uint32_t acquisitions) noexcept {
  patience_now = acquisitions != 0 ? acquisitions : concurrency_limiter::patience;
}

/// How many threads may be active: one for each CPU, and at least two (`always_active`).
///
/// | Called thread                   | Others passive | Limit                                                        |
/// |---------------------------------|----------------|--------------------------------------------------------------|
/// | none                            | any number     | CPUs                                                         |
/// | on its way, or in the queue     | some           | CPUs - 1; with two CPUs 0, or 1 if the newcomer warms up     |
/// | on its way                      | none           | CPUs - 1                                                     |
/// | in the queue                    | none           | CPUs: the queue counts the called thread already             |
///
/// The CPU that is left free is for the called thread. With two CPUs one thread is then active, which saves it the
/// hand-overs. A newcomer that warms up works beside its critical section.
std::uint32_t concurrency_limiter::limit(bool works) const noexcept {
  const std::uint32_t cpus = machine::cpu_count() > always_active ? machine::cpu_count() : always_active;
  // relaxed: hints
  const called guest = called_.load(std::memory_order_relaxed);
  if (guest == called::nobody) return cpus;
  const bool more = passive_called_.load(std::memory_order_relaxed) != passive_.load(std::memory_order_relaxed);
  if (more) return cpus > 2 || works ? cpus - 1 : 0;
  return guest == called::queues ? cpus : cpus - 1;
}

void concurrency_limiter::wait_in_passive_set(const lock_view& lock) noexcept {
  if (!busy()) become_this_process();
  const std::uint32_t number = passive_.fetch_add(1, std::memory_order_seq_cst);
  machine::fence();  // orders the number before the second look; pairs with the fence of contended owners
  detail::sleeping_place& place = detail::place_of(this, number);
  for (bool woken = false;;) {
    const std::uint32_t ticket = place.ticket();
    // seq_cst: ordered against the change of the place in hand_off()
    const auto ahead = static_cast<std::int32_t>(number - passive_called_.load(std::memory_order_seq_cst));
    if (ahead < 0) break;
    // Woken and not called: the last holder, a called thread, gave up a lock that no thread waited for. It may come
    // back.
    if (woken ? stays_free(lock) : !lock.still_crowded(lock.context)) {
      lock.kick(lock.context);
      if (static_cast<std::int32_t>(number - passive_called_.load(std::memory_order_seq_cst)) < 0) break;
    }
    const std::uint64_t until = machine::clock_ns() + call_distance_ns * (static_cast<std::uint64_t>(ahead) + 1);
    woken = place.sleep(ticket, until) != machine::park_result::timed_out;
  }
  // relaxed: a hint for newcomers
  called_.store(called::queues, std::memory_order_relaxed);
}

/// Whether each of several reads finds the lock free.
bool concurrency_limiter::stays_free(const lock_view& lock) noexcept {
  for (unsigned looks = 0; looks < looks_at_free_lock; ++looks) {
    if (lock.is_held(lock.context)) return false;
    detail::pause_for(pause_between_looks);
  }
  return true;
}

void concurrency_limiter::note_admitted() noexcept {
  // relaxed: hints for newcomers; the next holder sees them through the lock
  called_.store(called::nobody, std::memory_order_relaxed);
  closed_.store(static_cast<std::uint8_t>(closed_.load(std::memory_order_relaxed) & ~closed),
                std::memory_order_relaxed);
  machine::fence();  // before this holder checks the passive set: a thread that still saw the call has a number by then
  passed_ = 0;
  last_call_ = coarse_clock();
}

detail::sleeping_place* concurrency_limiter::hand_off(others active) noexcept {
  if (!is_of_this_process()) return call_all();
  if (passed_ < 0xFFFF) ++passed_;
  if (called_.load(std::memory_order_relaxed) != called::nobody) {  // relaxed: only holders set it to and from nobody
    // relaxed, both: a hint for newcomers, which only holders write
    if (passed_ >= patience_now)
      closed_.store(closed_.load(std::memory_order_relaxed) | closed, std::memory_order_relaxed);
    return nullptr;
  }
  // seq_cst: with the fences of contended owners and of passive threads
  if (passive_called_.load(std::memory_order_seq_cst) == passive_.load(std::memory_order_seq_cst)) {
    return nullptr;
  }
  // A queue that is empty at this moment may fill again at once, when its threads come back. So at most one thread is
  // called in a millisecond. A passive thread that has found the lock free for a while may call earlier.
  const bool stayed_free = active == others::visitor;
  const bool look_at_clock = active != others::some || passed_ % look_at_clock_every == 0;
  const bool long_ago = look_at_clock && coarse_clock() - last_call_ > call_distance();
  // relaxed: only holders write it
  const std::uint32_t number = passive_called_.load(std::memory_order_relaxed);
  if (!stayed_free && !long_ago && passed_ < patience_now) {
    // The first release by a called thread: the next passive thread checks whether another one comes back.
    const bool may_stay_free = active == others::nobody && passed_ == 1;
    return may_stay_free ? &detail::place_of(this, number) : nullptr;
  }
  called_.store(called::comes, std::memory_order_relaxed);  // relaxed: a hint for newcomers
  passed_ = 0;
  last_call_ = coarse_clock();
  passive_called_.store(number + 1, std::memory_order_seq_cst);  // before the place changes: see wait_in_passive_set()
  return &detail::place_of(this, number);
}

/// The low bits of the count of forks, as many as have room.
std::uint8_t concurrency_limiter::mark_here() noexcept {
  return static_cast<std::uint8_t>((machine::fork_count() & process_bits) * (2 * closed));
}

bool concurrency_limiter::is_of_this_process() const noexcept {
  // relaxed: the holder sees through the lock what holders wrote; for others it is a hint
  return (closed_.load(std::memory_order_relaxed) & ~closed) == mark_here();
}

bool concurrency_limiter::is_parents() const noexcept {
  // relaxed: as in busy()
  return busy() && !is_of_this_process();
}

/// Marks the lock as this process's. The passive set is empty, so no thread of a parent is either. Without the mark, a
/// lock that a child uses for the first time would admit all threads. If the holder overwrites the mark with the old
/// number, its next release calls all threads in.
void concurrency_limiter::become_this_process() noexcept {
  if (is_of_this_process()) return;
  std::uint8_t seen = closed_.load(std::memory_order_relaxed);  // relaxed, here and below: a hint for newcomers
  const auto marked = static_cast<std::uint8_t>(mark_here() | (seen & closed));
  closed_.compare_exchange_strong(seen, marked, std::memory_order_relaxed);
}

/// In the child of a fork, by the holder: the threads of the parent will not come. The child's passive threads see that
/// they are called when they look the next time. The one that came last is woken.
detail::sleeping_place* concurrency_limiter::call_all() noexcept {
  // relaxed, both: hints for newcomers
  called_.store(called::nobody, std::memory_order_relaxed);
  closed_.store(mark_here(), std::memory_order_relaxed);
  passed_ = 0;
  last_call_ = coarse_clock();
  const std::uint32_t all = passive_.load(std::memory_order_seq_cst);  // seq_cst, both: as in hand_off()
  passive_called_.store(all, std::memory_order_seq_cst);
  return &detail::place_of(this, all - 1);
}

void concurrency_limiter::wake(detail::sleeping_place* called) noexcept {
  if (called != nullptr) called->wake();
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND

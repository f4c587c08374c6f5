// SPDX-License-Identifier: Apache-2.0
// pthread_mutex_*. The fast path is a mutex under futex_mutex whose order nobody watches. Everything else goes through
// one switch.
#include <algorithm>
#include <cerrno>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/observe/counters.hpp>
#include <txsync/speculate/elided.hpp>

#include "acquisition.hpp"
#include "deadline.hpp"
#include "foreign_mutex.hpp"
#include "identity.hpp"
#include "interpose.hpp"
#include "known_tags.hpp"
#include "locks/left_tickets.hpp"
#include "mutex_state.hpp"
#include "next.hpp"
#include "order.hpp"
#include "sites.hpp"
#include "speculating_sites.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

using observe::detail::until_sample;

bool is_checked(std::int32_t kind) noexcept {
  const std::int32_t type = kind & mutex_state::kind_bits;
  return type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK;
}

/// Normal or adaptive, and no attribute leaves it to the C library: decide() gives all these the same answer. False for
/// destroyed ones.
bool is_usual(std::int32_t kind) noexcept { return (kind & mutex_state::foreign_bits) == 0 && !is_checked(kind); }

/// What a mutex is from its first use on. Destroyed ones stay unknown.
[[gnu::noinline]] lock_tag decide_anew(const mutex_state& mutex) noexcept {
  const std::int32_t kind = mutex.kind.load(std::memory_order_relaxed);  // relaxed: constant since the initialisation
  if (kind < 0) return lock_tag();
  const site_answer answer = find_site(object_kind::mutex, &mutex);
  const lock_tag tag = decide(answer, kind);
  if (!is_usual(kind)) return tag;
  if (answer.is_for_all) {
    remember_tag_of_all(tag.bits());
  } else if (answer.call != 0) {
    remember_tag(answer.call, tag.bits());
  }
  return tag;
}

/// `call`: where the pthread function returns to. If that is not in the program, nothing is known about it.
[[gnu::always_inline]] inline lock_tag decide_mutex(const mutex_state& mutex, std::uintptr_t call) noexcept {
  if (is_usual(mutex.kind.load(std::memory_order_relaxed)))  // relaxed: as above
    if (const std::uint16_t bits = known_tag(call, &mutex); bits != 0) return lock_tag(bits);
  return decide_anew(mutex);
}

lock_tag tag_of(mutex_state& mutex, std::uintptr_t call = 0) noexcept {
  // relaxed, here and below: only the tag itself changes when a mutex is decided
  std::uint16_t bits = mutex.tag.load(std::memory_order_relaxed);
  if (bits != 0) [[likely]]
    return lock_tag(bits);
  // acquire: the tag is read once more after it
  const std::uint32_t so_far = detail::tickets_listed.load(std::memory_order_acquire);
  bits = mutex.tag.load(std::memory_order_relaxed);
  if (bits != 0) return lock_tag(bits);
  const lock_tag decided = decide_mutex(mutex, call);
  detail::forget_left(&mutex.word.queue, so_far);
  // release pairs with the fence in choices_anew(), perhaps of another process
  if (mutex.tag.compare_exchange_strong(bits, decided.bits(), std::memory_order_release, std::memory_order_relaxed))
    return decided;
  return lock_tag(bits);
}

/// The return address of the function that asks. If pthread_mutex_lock jumps to that one, as compilers make it, it is
/// the caller of both.
[[gnu::always_inline]] inline std::uintptr_t caller() noexcept {
  return reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
}

// ---- owners and counting

bool is_callers(const mutex_state& mutex) noexcept { return is_callers(mutex.owner(), &mutex); }

/// The calling thread has just acquired the mutex.
void become_owner(mutex_state& mutex, std::uint32_t site) noexcept {
  std::uint64_t hold = thread_number();
  if (--until_sample <= 0) [[unlikely]]
    if (observe::detail::sample(site, &mutex)) hold |= mutex_state::sampled;
  // relaxed, here and wherever the owner is stored: the answer has to be exact only for the owner itself
  mutex.hold.store(hold, std::memory_order_relaxed);
}

void become_owner_of_any(mutex_state& mutex, lock_tag tag, algorithm lock_algorithm, acquire_kind kind) noexcept {
  settle_here(mutex, lock_algorithm);
  become_owner(mutex, tag.site());
  if (watches_order()) [[unlikely]]
    acquired_in_order(&mutex, tag.site(), kind);
}

void stop_owning(mutex_state& mutex) noexcept {
  if ((mutex.hold.load(std::memory_order_relaxed) & mutex_state::sampled) != 0) observe::detail::hold_ends(&mutex);
  if (watches_order()) [[unlikely]]
    released_in_order(&mutex);
  mutex.hold.store(0, std::memory_order_relaxed);
}

/// Makes the next unlock see that somebody waits or has waited. If the owner changes meanwhile, it may miss that.
void take_slow_unlock(mutex_state& mutex) noexcept {
  if (takes_chains()) mutex.hold.fetch_or(mutex_state::sampled, std::memory_order_relaxed);  // relaxed: a hint
}

/// The result of a second lock by the owner; -1: the call goes on as for any other thread.
int relock(mutex_state& mutex, lock_tag tag, bool waits) noexcept {
  switch (mutex.kind.load(std::memory_order_relaxed) & mutex_state::kind_bits) {
    case PTHREAD_MUTEX_RECURSIVE:
      return mutex.lock_once_more() ? 0 : EAGAIN;
    case PTHREAD_MUTEX_ERRORCHECK:
      return waits ? EDEADLK : EBUSY;
    default:
      if (waits) report(diagnostic_kind::relock_by_owner, tag.site());
      return -1;
  }
}

/// All locks except those of the fast path. `deadline` is called only if the thread has to wait.
template <class Deadline>
int lock_any(pthread_mutex_t* raw, lock_tag tag, Deadline deadline) noexcept {
  mutex_state& mutex = state_of(raw);
  if (tag.lock_algorithm() == algorithm::unknown) return EINVAL;  // destroyed
  if (runs_ahead()) return 0;
  if (is_callers(mutex)) [[unlikely]] {
    const int status = relock(mutex, tag, true);
    if (status >= 0) return status;
  }
  const algorithm lock_algorithm = lock_under(tag);
  count_for_trials(tag);
  if (!acquire_in_turn(mutex, lock_algorithm)) {
    std::uint64_t until = machine::no_deadline;
    if (const int status = deadline(until); status != 0) return status;
    take_slow_unlock(mutex);  // by the thread that has it
    const acquire_result result = acquire(mutex, tag, lock_algorithm, until, lock_call::mutex);
    if (result != acquire_result::acquired) return result == acquire_result::in_attempt ? 0 : ETIMEDOUT;
    become_owner_of_any(mutex, tag, lock_algorithm, acquire_kind::waits);
    take_slow_unlock(mutex);
    return 0;
  }
  become_owner_of_any(mutex, tag, lock_algorithm, acquire_kind::waits);
  return 0;
}

int no_deadline_asked(std::uint64_t&) noexcept { return 0; }

// ---- elision

/// An attempt does not write the owner, or all attempts would conflict.
bool may_elide(const mutex_state& mutex, lock_tag tag) noexcept {
  return tag.has_role() && choices_of(tag.role()).elides && !runs_ahead() && !is_callers(mutex);
}

bool is_recursive(const mutex_state& mutex) noexcept {
  // relaxed: constant since the initialisation
  return (mutex.kind.load(std::memory_order_relaxed) & mutex_state::kind_bits) == PTHREAD_MUTEX_RECURSIVE;
}

/// True in an attempt that runs the critical section in the lock's place.
bool elide(mutex_state& mutex, lock_tag tag) noexcept {
  if (!may_elide(mutex, tag)) return false;
  // A thread that waits for itself does so with and without elision.
  if (runs_elided(mutex) && !is_recursive(mutex)) leave_attempt();
  return enter_elided(mutex, tag);
}

detail::try_outcome try_elide(mutex_state& mutex, lock_tag tag) noexcept {
  if (!may_elide(mutex, tag)) return detail::try_outcome::try_lock;
  if (runs_elided(mutex) && is_recursive(mutex) && enter_elided(mutex, tag)) return detail::try_outcome::elided;
  return try_enter_elided(mutex, tag);
}

/// Ends the critical section if an attempt runs it.
bool end_elided(const mutex_state& mutex, lock_tag tag) noexcept { return tag.has_role() && leave_elided(mutex); }

// ----

[[gnu::always_inline]] inline lock_tag quick_tag(const mutex_state& mutex) noexcept {
  return lock_tag(mutex.tag.load(std::memory_order_relaxed));
}

/// A recursive or error-checking mutex of the caller's. False is no statement: the caller may hold it since before a
/// fork.
bool is_plainly_callers(const mutex_state& mutex) noexcept {
  return quick_tag(mutex).lock_algorithm() == algorithm::checked_futex && mutex.owner() == my_number;
}

[[gnu::noinline]] int lock_ours_slowly(pthread_mutex_t* raw) noexcept {
  if (is_plainly_callers(state_of(raw))) return relock(state_of(raw), quick_tag(state_of(raw)), true);
  const lock_tag tag = tag_of(state_of(raw));
  if (is_left_to_libc(tag)) return lock_foreign(raw, tag);
  if (elide(state_of(raw), tag)) return 0;
  return lock_any(raw, tag, no_deadline_asked);
}

int lock_undecided(pthread_mutex_t* raw, std::uintptr_t call) noexcept;

/// In steps, so that mutexes of the C library save no registers here.
[[gnu::noinline]] int lock_slowly(pthread_mutex_t* raw) noexcept {
  const lock_tag tag = quick_tag(state_of(raw));
  if (tag.lock_algorithm() == algorithm::libc) return lock_foreign(raw, tag);
  if (tag.bits() == 0) return lock_undecided(raw, caller());
  return lock_ours_slowly(raw);
}

int lock_until(pthread_mutex_t* raw, clockid_t clock, const timespec* time) noexcept {
  const lock_tag tag = tag_of(state_of(raw));
  if (is_left_to_libc(tag)) return lock_foreign_until(raw, tag, clock, time);
  // If the lock is held, the wait is below, with the deadline.
  const detail::try_outcome tried = try_elide(state_of(raw), tag);
  if (tried == detail::try_outcome::elided) return 0;
  if (tried == detail::try_outcome::busy) leave_attempt();
  return lock_any(raw, tag, [&](std::uint64_t& until) noexcept {
    if (!is_time(*time)) return EINVAL;
    until = on_our_clock(clock, *time);
    return 0;
  });
}

/// A thread that does not own a normal mutex gives it up, as in the C library.
void release_by_non_owner(pthread_mutex_t* raw, mutex_state& mutex, lock_tag tag) noexcept {
  // relaxed: the answer has to be exact only for the owner itself
  const bool wakes = (mutex.hold.exchange(0, std::memory_order_relaxed) & mutex_state::wakes) != 0;
  if (watches_order()) released_in_order(&mutex);
  release(mutex, lock_under(tag));
  if (wakes) wake_signalled(raw);
}

/// An unlock by a thread that does not own the mutex.
int unlock_by_non_owner(pthread_mutex_t* raw, mutex_state& mutex, lock_tag tag) noexcept {
  leave_attempt();
  const bool held = mutex.owner() != 0;
  const bool checked = is_checked(mutex.kind.load(std::memory_order_relaxed));
  if (!checked || !held)
    report(held ? diagnostic_kind::unlock_by_non_owner : diagnostic_kind::double_unlock, tag.site());
  if (checked) return EPERM;
  if (held) release_by_non_owner(raw, mutex, tag);
  return 0;
}

[[gnu::noinline]] int unlock_ours_slowly(pthread_mutex_t* raw) noexcept {
  mutex_state& mutex = state_of(raw);
  if (is_plainly_callers(mutex) && mutex.unlock_once_of_several()) return 0;
  const lock_tag tag = tag_of(mutex);
  if (is_left_to_libc(tag)) return unlock_foreign(raw, tag);
  if (tag.lock_algorithm() == algorithm::unknown) return EINVAL;
  if (end_elided(mutex, tag)) return 0;
  if (runs_ahead()) {
    unlock_ahead(mutex);
    return 0;
  }
  if (!is_callers(mutex)) return unlock_by_non_owner(raw, mutex, tag);
  if (mutex.unlock_once_of_several()) return 0;
  // relaxed: it is the owner's
  const bool wakes = (mutex.hold.load(std::memory_order_relaxed) & mutex_state::wakes) != 0;
  stop_owning(mutex);
  release(mutex, lock_under(tag));
  if (tag.site() != 0) released(&mutex);
  if (wakes) wake_signalled(raw);
  return 0;
}

[[gnu::noinline]] int unlock_slowly(pthread_mutex_t* raw) noexcept {
  const lock_tag tag = quick_tag(state_of(raw));
  if (tag.lock_algorithm() == algorithm::libc) return unlock_foreign(raw, tag);
  return unlock_ours_slowly(raw);
}

/// The first acquisition of a thread, or one that is counted. Out of line, so that the fast path saves no registers.
[[gnu::noinline]] int own_and_count(mutex_state& mutex) noexcept {
  become_owner(mutex, quick_tag(mutex).site());
  return 0;
}

[[gnu::always_inline]] inline int lock_mutex(pthread_mutex_t* raw) noexcept {
  mutex_state& mutex = state_of(raw);
  if (!quick_tag(mutex).is_fast() || !mutex.word.futex.acquire_if_free()) [[unlikely]]
    return lock_slowly(raw);
  const std::int32_t left = until_sample;
  const std::uint32_t number = my_number;
  if (left <= 1 || number == no_thread) [[unlikely]]
    return own_and_count(mutex);
  until_sample = left - 1;
  mutex.hold.store(number, std::memory_order_relaxed);
  return 0;
}

/// The first lock of a mutex that no function has initialised. It may live for little more than this critical section.
[[gnu::noinline]] int lock_undecided(pthread_mutex_t* raw, std::uintptr_t call) noexcept {
  const lock_tag tag = tag_of(state_of(raw), call);
  if (tag.lock_algorithm() == algorithm::libc) return lock_foreign(raw, tag);
  return tag.is_fast() ? lock_mutex(raw) : lock_ours_slowly(raw);
}

[[gnu::always_inline]] inline int unlock_mutex(pthread_mutex_t* raw) noexcept TXSYNC_UNCHECKED {
  mutex_state& mutex = state_of(raw);
  if (!quick_tag(mutex).is_fast() || mutex.hold.load(std::memory_order_relaxed) != my_number) [[unlikely]]
    return unlock_slowly(raw);
  mutex.hold.store(0, std::memory_order_relaxed);
  mutex.word.futex.unlock();
  return 0;
}

int try_lock_mutex(pthread_mutex_t* raw) noexcept {
  mutex_state& mutex = state_of(raw);
  const lock_tag tag = tag_of(mutex);
  if (is_left_to_libc(tag)) return try_lock_foreign(raw, tag);
  if (tag.lock_algorithm() == algorithm::unknown) return EINVAL;
  const detail::try_outcome tried = try_elide(mutex, tag);
  if (tried != detail::try_outcome::try_lock) return tried == detail::try_outcome::elided ? 0 : EBUSY;
  if (runs_ahead()) return 0;
  if (is_callers(mutex)) {
    const int status = relock(mutex, tag, false);
    if (status >= 0) return status;
  }
  const algorithm lock_algorithm = lock_under(tag);
  if (!try_acquire(mutex, lock_algorithm)) return EBUSY;
  become_owner_of_any(mutex, tag, lock_algorithm, acquire_kind::tries);
  return 0;
}

int initialise(pthread_mutex_t* raw, const pthread_mutexattr_t* attributes, std::uintptr_t call) noexcept {
  // The C library knows where it keeps the attributes. It leaves everything else zero.
  const int status = next().mutex_init(raw, attributes);
  if (status != 0) return status;
  mutex_state& mutex = state_of(raw);
  // relaxed: only the caller knows of the mutex
  detail::forget_left(&mutex.word.queue, detail::tickets_listed.load(std::memory_order_relaxed));
  mutex.tag.store(decide_mutex(mutex, call).bits(), std::memory_order_relaxed);
  return 0;
}

[[gnu::noinline]] int destroy_ours(pthread_mutex_t* raw, lock_tag tag) noexcept {
  mutex_state& mutex = state_of(raw);
  if (runs_elided(mutex) || runs_ahead()) leave_attempt();
  if (mutex.owner() != 0) {
    leave_attempt();
    report(diagnostic_kind::destroyed_locked, tag.site());
    return EBUSY;
  }
  if (watches_order()) forget_in_order(&mutex);
  mutex.kind.store(-1, std::memory_order_relaxed);
  mutex.tag.store(0, std::memory_order_relaxed);
  return 0;
}

int destroy(pthread_mutex_t* raw) noexcept {
  mutex_state& mutex = state_of(raw);
  // relaxed: the caller is the last user. If it is destroyed already, the fields hold values of an earlier lock of the
  // C library.
  if (mutex.kind.load(std::memory_order_relaxed) < 0) return 0;
  // Never locked: nothing is known of it, and nothing needs to be.
  const lock_tag tag = quick_tag(mutex);
  return is_left_to_libc(tag) ? destroy_foreign(raw, tag) : destroy_ours(raw, tag);
}

}  // namespace

bool is_foreign(pthread_mutex_t* mutex) noexcept { return is_left_to_libc(decided_tag(mutex)); }

std::uint32_t site_of(pthread_mutex_t* mutex) noexcept { return decided_tag(mutex).site(); }

lock_tag decided_tag(pthread_mutex_t* mutex) noexcept { return tag_of(state_of(mutex)); }

bool is_held_by_caller(pthread_mutex_t* raw) noexcept {
  mutex_state& mutex = state_of(raw);
  const lock_tag tag(mutex.tag.load(std::memory_order_relaxed));
  if (tag.lock_algorithm() == algorithm::unknown || is_left_to_libc(tag) || machine::active()) return false;
  return is_callers(mutex);
}

bool ask_for_wakes(pthread_mutex_t* raw) noexcept {
  if (!is_held_by_caller(raw)) return false;
  mutex_state& mutex = state_of(raw);
  // relaxed: it is the owner's
  mutex.hold.store(mutex.hold.load(std::memory_order_relaxed) | mutex_state::wakes, std::memory_order_relaxed);
  return true;
}

int release_for_wait(pthread_mutex_t* raw) noexcept {
  mutex_state& mutex = state_of(raw);
  const lock_tag tag = tag_of(mutex);
  // A wait in an attempt: the critical section starts again with the lock.
  leave_attempt();
  if (tag.lock_algorithm() == algorithm::unknown) return EINVAL;  // destroyed
  if (!is_left_to_libc(tag) && !is_callers(mutex)) {
    report(diagnostic_kind::wait_without_mutex, tag.site());
    // relaxed: constant since the initialisation
    if (is_checked(mutex.kind.load(std::memory_order_relaxed))) return EPERM;
    // As in the C library, the wait goes on. Otherwise a program that sleeps like this would spin.
    if (mutex.owner() != 0) release_by_non_owner(raw, mutex, tag);
    return 0;
  }
  return unlock_mutex(raw);
}

void take_after_wait(pthread_mutex_t* mutex, int& status) noexcept {
  const int taken = lock_mutex(mutex);
  if (taken != 0) status = taken;  // EOWNERDEAD and the like, from mutexes of the C library
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

using namespace txsync::preload;

TXSYNC_INTERPOSE int pthread_mutex_init(pthread_mutex_t* mutex, const pthread_mutexattr_t* attributes) noexcept {
  return initialise(mutex, attributes, caller());
}
TXSYNC_INTERPOSE int pthread_mutex_destroy(pthread_mutex_t* mutex) noexcept { return destroy(mutex); }
TXSYNC_INTERPOSE int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept { return lock_mutex(mutex); }
TXSYNC_INTERPOSE int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept { return try_lock_mutex(mutex); }
TXSYNC_INTERPOSE int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* time) noexcept {
  return lock_until(mutex, CLOCK_REALTIME, time);
}
TXSYNC_INTERPOSE int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* time) noexcept {
  if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) return EINVAL;
  return lock_until(mutex, clock, time);
}
TXSYNC_INTERPOSE int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept { return unlock_mutex(mutex); }

TXSYNC_MOVED_IN_2_34(pthread_mutex_trylock, TXSYNC_GLIBC_FIRST);
TXSYNC_MOVED_IN_2_34(pthread_mutex_timedlock, TXSYNC_GLIBC_FIRST);
TXSYNC_MOVED_IN_2_34(pthread_mutex_clocklock, "GLIBC_2.30");
TXSYNC_LINKED_BEFORE_2_34_AS(__pthread_mutex_init, pthread_mutex_init);
TXSYNC_LINKED_BEFORE_2_34_AS(__pthread_mutex_destroy, pthread_mutex_destroy);
TXSYNC_LINKED_BEFORE_2_34_AS(__pthread_mutex_lock, pthread_mutex_lock);
TXSYNC_LINKED_BEFORE_2_34_AS(__pthread_mutex_trylock, pthread_mutex_trylock);
TXSYNC_LINKED_BEFORE_2_34_AS(__pthread_mutex_unlock, pthread_mutex_unlock);

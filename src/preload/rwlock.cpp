// SPDX-License-Identifier: Apache-2.0
// pthread_rwlock_*: futex_rwlock within the object's own bytes, or, by policy, a mutex that readers take too. The
// critical sections of both run as attempts if the policy asks for that.
#include <pthread.h>

#include <cerrno>

#include <txsync/locks/futex_rwlock.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/observe/counters.hpp>
#include <txsync/speculate/elided.hpp>

#include "acquisition.hpp"
#include "contention.hpp"
#include "deadline.hpp"
#include "identity.hpp"
#include "interpose.hpp"
#include "locks/once_in_child.hpp"
#include "locks/tagged_lock.hpp"
#include "next.hpp"
#include "rwlock_state.hpp"
#include "sites.hpp"
#include "speculating_sites.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

/// The tag of a mutex in the lock's place.
lock_tag decide_as_mutex(const site_answer& answer) noexcept {
  constexpr bool may_be_libcs = false;  // a mutex of the C library would not fit
  return decide(answer, PTHREAD_MUTEX_NORMAL, may_be_libcs);
}

/// Whether to elide. If so, the site speculates from then on, as mutexes there do.
bool is_to_elide(const site_answer& answer) noexcept {
  if (!answer.policy.wants_elision()) return false;
  const lock_tag as_mutex = decide_as_mutex(answer);
  return as_mutex.has_role() && choices_of(as_mutex.role()).elides;
}

rw_tag decide_rwlock(rwlock_state& lock) noexcept {
  const site_answer answer = find_site(object_kind::rwlock, &lock);
  const bool counting = answer.policy.counting;
  const std::uint32_t site = counting ? answer.site : 0;
  if (lock.shared.process_shared != 0 || answer.policy.rwlock == policy::rwlock_kind::libc)
    return {rw_algorithm::libc, site};
  if (answer.policy.rwlock == policy::rwlock_kind::as_mutex) {
    std::uint16_t undecided = 0;
    // relaxed: the lock's own tag is stored after it
    lock.mutex.tag.compare_exchange_strong(undecided, decide_as_mutex(answer).bits(), std::memory_order_relaxed);
    return {rw_algorithm::as_mutex, site};
  }
  if (is_to_elide(answer)) return {counting ? rw_algorithm::elided : rw_algorithm::elided_uncounted, answer.site};
  return {rw_algorithm::rwlock, site};
}

rw_tag tag_of(rwlock_state& lock) noexcept {
  // acquire pairs with the release below: the tag of the mutex
  std::uint16_t bits = lock.tag.load(std::memory_order_acquire);
  if (bits != 0) [[likely]]
    return rw_tag(bits);
  const rw_tag decided = decide_rwlock(lock);
  // acq_rel: the tag of the mutex, from and to the thread that is first
  if (lock.tag.compare_exchange_strong(bits, decided.bits(), std::memory_order_acq_rel)) return decided;
  return rw_tag(bits);
}

lock_tag mutex_tag(const rwlock_state& lock) noexcept {
  return lock_tag(lock.mutex.tag.load(std::memory_order_relaxed));  // relaxed: ordered by the lock's own tag
}

futex_rwlock::admit admission_of(const rwlock_state& lock) noexcept {
  return lock.preference == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP ? futex_rwlock::admit::after_writers
                                                                         : futex_rwlock::admit::readers_first;
}

enum class rw_mode : std::uint8_t { read, write };

lock_call call_of(rw_mode mode) noexcept { return mode == rw_mode::read ? lock_call::read : lock_call::write; }

/// The time inside belongs to each thread: readers overlap.
void count(const void* lock, rw_tag tag) noexcept { observe::detail::acquired(tag.site(), lock); }

bool try_enter(rwlock_state& lock, rw_mode mode) noexcept {
  return mode == rw_mode::write ? lock.shared.rwlock.try_lock()
                                : lock.shared.rwlock.try_lock_shared(admission_of(lock));
}

bool enter_until(rwlock_state& lock, rw_mode mode, std::uint64_t deadline) noexcept {
  return mode == rw_mode::write ? lock.shared.rwlock.try_lock_until_ns(deadline)
                                : lock.shared.rwlock.try_lock_shared_until_ns(deadline, admission_of(lock));
}

/// In the child of a fork, sleeping threads of the parent do not exist. They must not keep readers out, which wait
/// while writers wait. To be called before the first thread of this process is counted as a sleeper.
void forget_parents_sleepers(rwlock_state& lock) noexcept {
  (void)detail::once_in_child(lock.shared.forks, [&]() noexcept { lock.shared.rwlock.forget_sleepers(); });
}

bool try_enter_settled(rwlock_state& lock, rw_mode mode) noexcept {
  if (try_enter(lock, mode)) [[likely]]
    return true;
  forget_parents_sleepers(lock);
  return try_enter(lock, mode);
}

/// How long a thread will wait: not at all for a try; else for ever, or until a time.
struct wait_spec {
  bool waits = true;
  const timespec* until = nullptr;
  clockid_t clock = CLOCK_REALTIME;
};

std::uint64_t deadline_of(const wait_spec& spec) noexcept {
  return spec.until != nullptr ? on_our_clock(spec.clock, *spec.until) : machine::no_deadline;
}

/// `tries`: an acquisition that does not wait. `waits`: one that waits, until a deadline.
template <class Tries, class Waits>
int take(const rwlock_state& lock, rw_tag tag, rw_mode mode, const wait_spec& spec, Tries tries, Waits waits) noexcept {
  if (!tries()) {
    if (!spec.waits) return EBUSY;
    const std::uint64_t deadline = deadline_of(spec);
    const begun_wait wait = begin_wait(tag.site(), &lock, call_of(mode));
    if (!waits(deadline)) {
      fail_wait(tag.site(), &lock, call_of(mode), wait);
      return ETIMEDOUT;
    }
    end_wait(tag.site(), &lock, call_of(mode), wait);
  }
  count(&lock, tag);
  return 0;
}

// ---- elision

/// The address by which the record of the thread's elided sections knows the lock, whatever lock it is.
const void* word_of(const rwlock_state& lock) noexcept { return &lock; }

bool runs_elided(const rwlock_state& lock) noexcept {
  return detail::in_elided_attempt() && detail::elided_mode(word_of(lock)) != latch_mode::none;
}

/// Ends the critical section if an attempt runs it.
[[gnu::noinline]] bool end_elided(const rwlock_state& lock) noexcept {
  return detail::in_elided_attempt() && detail::leave_elided(word_of(lock));
}

template <futex_rwlock::admit how>
bool is_closed_to_readers(const void* lock) noexcept {
  return static_cast<const futex_rwlock*>(lock)->is_closed_to_readers(how);
}

/// For a writer that is served before readers. It does not wait outside the lock, where readers do not see it.
bool is_held_for_attempt(const void* lock) noexcept {
  return machine::active() && static_cast<const futex_rwlock*>(lock)->is_held();
}

/// Attempts are kept out whenever the lock itself would keep the thread out. So tries give the lock's own answers.
detail::held_test held_test_of(const rwlock_state& lock, rw_mode mode) noexcept {
  if (admission_of(lock) == futex_rwlock::admit::readers_first) {
    return mode == rw_mode::write ? detail::is_held_at_all<futex_rwlock>
                                  : is_closed_to_readers<futex_rwlock::admit::readers_first>;
  }
  return mode == rw_mode::write ? is_held_for_attempt : is_closed_to_readers<futex_rwlock::admit::after_writers>;
}

/// 0: in an attempt that runs the critical section. EBUSY: a try finds the lock held. -1: the lock is to be taken.
int elide(const rwlock_state& lock, site& lock_site, detail::held_test held, rw_mode mode,
          const wait_spec& spec) noexcept {
  const latch_mode latch = mode == rw_mode::read ? latch_mode::shared : latch_mode::exclusive;
  const void* const word = word_of(lock);
  if (spec.waits && spec.until == nullptr) {
    // A thread that comes again as a writer, or that has come as one, would wait for itself. The lock decides about
    // that, outside the attempt.
    if (runs_elided(lock) && (mode == rw_mode::write || detail::elided_mode(word) == latch_mode::exclusive))
      leave_attempt();
    return detail::enter_elided(lock_site, word, latch, held) ? 0 : -1;
  }
  const detail::try_outcome tried = detail::try_enter_elided(lock_site, word, latch, held);
  if (tried == detail::try_outcome::elided) return 0;
  if (tried == detail::try_outcome::try_lock) return -1;
  if (!spec.waits) return EBUSY;
  leave_attempt();
  return -1;
}

/// Out of line, like everything that only elided locks need: other locks' path stays short.
[[gnu::noinline]] int elide_as_rwlock(rwlock_state& lock, rw_tag tag, rw_mode mode, const wait_spec& spec) noexcept {
  forget_parents_sleepers(lock);  // or an attempt would wait for one of them
  return elide(lock, speculating_site_of(tag.role()).lock_site, held_test_of(lock, mode), mode, spec);
}

// ---- as a reader-writer lock or as a mutex

bool is_callers_as_writer(const rwlock_state& lock) noexcept {
  // relaxed, here and below: only the thread itself stores its own number there
  return is_callers(lock.shared.writer.load(std::memory_order_relaxed), &lock);
}

int lock_as_rwlock(rwlock_state& lock, rw_tag tag, rw_mode mode, const wait_spec& spec) noexcept {
  if (runs_ahead()) return 0;
  if (is_callers_as_writer(lock)) return spec.waits ? EDEADLK : EBUSY;
  if (tag.is_elided() && choices_of(tag.role()).elides) {
    const int answer = elide_as_rwlock(lock, tag, mode, spec);
    if (answer >= 0) return answer;
  }
  if (mode == rw_mode::read && lock.shared.rwlock.is_full()) [[unlikely]]
    return EAGAIN;
  const int status = take(
      lock, tag, mode, spec, [&]() noexcept { return try_enter_settled(lock, mode); },
      [&](std::uint64_t deadline) noexcept { return enter_until(lock, mode, deadline); });
  if (status == 0 && mode == rw_mode::write) lock.shared.writer.store(thread_number(), std::memory_order_relaxed);
  return status;
}

/// Readers may come again, as under the real lock. A reader that wants to write would wait for itself there.
int lock_again(rwlock_state& lock, rw_mode mode, const wait_spec& spec) noexcept {
  if (mode == rw_mode::write || lock.written != 0) return spec.waits ? EDEADLK : EBUSY;
  return lock.mutex.lock_once_more() ? 0 : EAGAIN;
}

int lock_as_mutex(rwlock_state& lock, rw_tag tag, rw_mode mode, const wait_spec& spec) noexcept {
  mutex_state& mutex = lock.mutex;
  if (runs_ahead()) return 0;
  if (is_callers(mutex.owner(), &lock)) return lock_again(lock, mode, spec);
  const lock_tag by = mutex_tag(lock);
  const algorithm under = lock_under(by);
  if (by.has_role() && choices_of(by.role()).elides) {
    const int answer = elide(lock, speculating_site_of(by.role()).lock_site, detail::held_as(under), mode, spec);
    if (answer >= 0) return answer;
  }
  count_for_trials(by);
  if (!(spec.waits ? acquire_in_turn(mutex, under) : try_acquire(mutex, under))) {
    if (!spec.waits) return EBUSY;
    const acquire_result result = acquire(mutex, by, under, deadline_of(spec), call_of(mode));
    if (result != acquire_result::acquired) return result == acquire_result::in_attempt ? 0 : ETIMEDOUT;
  }
  settle_here(mutex, under);
  count(&lock, tag);
  mutex.hold.store(thread_number(), std::memory_order_relaxed);
  lock.written = mode == rw_mode::write;
  return 0;
}

int lock_ours(rwlock_state& lock, rw_tag tag, rw_mode mode, const wait_spec& spec) noexcept {
  return tag.lock_algorithm() == rw_algorithm::as_mutex ? lock_as_mutex(lock, tag, mode, spec)
                                                        : lock_as_rwlock(lock, tag, mode, spec);
}

int unlock_as_mutex(rwlock_state& lock, rw_tag tag) noexcept {
  mutex_state& mutex = lock.mutex;
  const lock_tag by = mutex_tag(lock);
  if (by.has_role() && end_elided(lock)) return 0;
  if (runs_ahead()) {
    unlock_ahead(mutex);
    return 0;
  }
  const std::uint32_t owner = mutex.owner();
  if (!is_callers(owner, &lock)) {
    leave_attempt();
    report(owner == 0 ? diagnostic_kind::double_unlock : diagnostic_kind::unlock_by_non_owner, tag.site());
  }
  if (owner == 0) return 0;  // as in the C library
  if (mutex.unlock_once_of_several()) return 0;
  observe::detail::hold_ends_if_timed(&lock);
  mutex.hold.store(0, std::memory_order_relaxed);
  release(mutex, lock_under(by));
  return 0;
}

[[gnu::noinline]] void report_outside_attempt(diagnostic_kind kind, rw_tag tag) noexcept {
  leave_attempt();
  report(kind, tag.site());
}

int unlock_rwlock(rwlock_state& lock, rw_tag tag) noexcept TXSYNC_UNCHECKED {
  if (tag.is_elided() && end_elided(lock)) return 0;
  if (runs_ahead()) return 0;
  observe::detail::hold_ends_if_timed(&lock);
  if (lock.shared.rwlock.has_writer()) {
    if (!is_callers_as_writer(lock)) report_outside_attempt(diagnostic_kind::unlock_by_non_owner, tag);
    lock.shared.writer.store(0, std::memory_order_relaxed);
    lock.shared.rwlock.unlock();
    return 0;
  }
  if (lock.shared.rwlock.readers() == 0) {
    report_outside_attempt(diagnostic_kind::double_unlock, tag);
    return 0;  // as in the C library
  }
  lock.shared.rwlock.unlock_shared();
  return 0;
}

// ---- left to the C library

int try_foreign(pthread_rwlock_t* raw, rw_mode mode) noexcept {
  return mode == rw_mode::read ? next().rwlock_tryrdlock(raw) : next().rwlock_trywrlock(raw);
}

int wait_for_foreign(pthread_rwlock_t* raw, rw_mode mode, const wait_spec& spec) noexcept {
  const bool read = mode == rw_mode::read;
  if (spec.until == nullptr) return read ? next().rwlock_rdlock(raw) : next().rwlock_wrlock(raw);
  if (spec.clock == CLOCK_REALTIME)
    return read ? next().rwlock_timedrdlock(raw, spec.until) : next().rwlock_timedwrlock(raw, spec.until);
  const auto function = read ? next().rwlock_clockrdlock : next().rwlock_clockwrlock;
  return function != nullptr ? function(raw, spec.clock, spec.until) : ENOTSUP;
}

/// If the try fails, the real lock call follows, whose result may differ.
[[gnu::noinline]] int lock_foreign(pthread_rwlock_t* raw, rw_tag tag, rw_mode mode, const wait_spec& spec) noexcept {
  if (tag.site() == 0 && spec.waits) return wait_for_foreign(raw, mode, spec);
  int status = try_foreign(raw, mode);
  if (status != 0) {
    if (!spec.waits) return status;
    const begun_wait wait = begin_wait(tag.site(), raw, call_of(mode));
    status = wait_for_foreign(raw, mode, spec);
    if (status != 0) {
      fail_wait(tag.site(), raw, call_of(mode), wait);
      return status;
    }
    end_wait(tag.site(), raw, call_of(mode), wait);
  }
  count(raw, tag);
  return status;
}

[[gnu::always_inline]] inline int lock_rwlock(pthread_rwlock_t* raw, rw_mode mode, const wait_spec& spec) noexcept {
  // Even if the lock is free, as in the C library.
  if (spec.until != nullptr && !is_time(*spec.until)) return EINVAL;
  rwlock_state& lock = state_of(raw);
  const rw_tag tag = tag_of(lock);
  if (tag.lock_algorithm() == rw_algorithm::libc) return lock_foreign(raw, tag, mode, spec);
  return lock_ours(lock, tag, mode, spec);
}

bool is_clock(clockid_t clock) noexcept { return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC; }

int destroy(pthread_rwlock_t* raw) noexcept {
  rwlock_state& lock = state_of(raw);
  const rw_tag tag(lock.tag.load(std::memory_order_relaxed));
  if (tag.lock_algorithm() == rw_algorithm::libc) {
    const int status = next().rwlock_destroy(raw);
    if (status == 0) lock.tag.store(0, std::memory_order_relaxed);
    return status;
  }
  if (runs_elided(lock) || runs_ahead()) leave_attempt();
  const bool held = tag.lock_algorithm() == rw_algorithm::as_mutex
                        ? lock.mutex.owner() != 0
                        : lock.shared.rwlock.has_writer() || lock.shared.rwlock.readers() != 0;
  if (held) {
    report_outside_attempt(diagnostic_kind::destroyed_locked, tag);
    return 0;  // the C library's answer, which also leaves the lock unchanged
  }
  if (tag.lock_algorithm() == rw_algorithm::as_mutex) lock.mutex.tag.store(0, std::memory_order_relaxed);
  lock.tag.store(0, std::memory_order_relaxed);
  return 0;
}

}  // namespace

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

using namespace txsync;
using namespace txsync::preload;

TXSYNC_INTERPOSE int pthread_rwlock_init(pthread_rwlock_t* lock, const pthread_rwlockattr_t* attributes) noexcept {
  const int status = next().rwlock_init(lock, attributes);
  // release pairs with the acquire in tag_of()
  if (status == 0) state_of(lock).tag.store(decide_rwlock(state_of(lock)).bits(), std::memory_order_release);
  return status;
}
TXSYNC_INTERPOSE int pthread_rwlock_destroy(pthread_rwlock_t* lock) noexcept { return destroy(lock); }

TXSYNC_INTERPOSE int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  return lock_rwlock(lock, rw_mode::read, {});
}
TXSYNC_INTERPOSE int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) noexcept {
  return lock_rwlock(lock, rw_mode::read, {.waits = false});
}
TXSYNC_INTERPOSE int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* time) noexcept {
  return lock_rwlock(lock, rw_mode::read, {.until = time});
}
TXSYNC_INTERPOSE int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                                const timespec* time) noexcept {
  return is_clock(clock) ? lock_rwlock(lock, rw_mode::read, {.until = time, .clock = clock}) : EINVAL;
}

TXSYNC_INTERPOSE int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  return lock_rwlock(lock, rw_mode::write, {});
}
TXSYNC_INTERPOSE int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) noexcept {
  return lock_rwlock(lock, rw_mode::write, {.waits = false});
}
TXSYNC_INTERPOSE int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* time) noexcept {
  return lock_rwlock(lock, rw_mode::write, {.until = time});
}
TXSYNC_INTERPOSE int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                                const timespec* time) noexcept {
  return is_clock(clock) ? lock_rwlock(lock, rw_mode::write, {.until = time, .clock = clock}) : EINVAL;
}

TXSYNC_INTERPOSE int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  rwlock_state& state = state_of(lock);
  const rw_tag tag = tag_of(state);
  if (tag.lock_algorithm() == rw_algorithm::libc) {
    observe::detail::hold_ends_if_timed(lock);
    const int status = next().rwlock_unlock(lock);
    if (tag.site() != 0) released(lock);
    return status;
  }
  const int status =
      tag.lock_algorithm() == rw_algorithm::as_mutex ? unlock_as_mutex(state, tag) : unlock_rwlock(state, tag);
  if (tag.site() != 0 && !runs_ahead()) released(lock);
  return status;
}

TXSYNC_MOVED_IN_2_34(pthread_rwlock_init, TXSYNC_GLIBC_FIRST);
TXSYNC_MOVED_IN_2_34(pthread_rwlock_destroy, TXSYNC_GLIBC_FIRST);
TXSYNC_MOVED_IN_2_34(pthread_rwlock_rdlock, TXSYNC_GLIBC_FIRST);
TXSYNC_MOVED_IN_2_34(pthread_rwlock_tryrdlock, TXSYNC_GLIBC_FIRST);
TXSYNC_MOVED_IN_2_34(pthread_rwlock_timedrdlock, TXSYNC_GLIBC_FIRST);
TXSYNC_MOVED_IN_2_34(pthread_rwlock_clockrdlock, "GLIBC_2.30");
TXSYNC_MOVED_IN_2_34(pthread_rwlock_wrlock, TXSYNC_GLIBC_FIRST);
TXSYNC_MOVED_IN_2_34(pthread_rwlock_trywrlock, TXSYNC_GLIBC_FIRST);
TXSYNC_MOVED_IN_2_34(pthread_rwlock_timedwrlock, TXSYNC_GLIBC_FIRST);
TXSYNC_MOVED_IN_2_34(pthread_rwlock_clockwrlock, "GLIBC_2.30");
TXSYNC_MOVED_IN_2_34(pthread_rwlock_unlock, TXSYNC_GLIBC_FIRST);
TXSYNC_LINKED_BEFORE_2_34_AS(__pthread_rwlock_init, pthread_rwlock_init);
TXSYNC_LINKED_BEFORE_2_34_AS(__pthread_rwlock_destroy, pthread_rwlock_destroy);
TXSYNC_LINKED_BEFORE_2_34_AS(__pthread_rwlock_rdlock, pthread_rwlock_rdlock);
TXSYNC_LINKED_BEFORE_2_34_AS(__pthread_rwlock_tryrdlock, pthread_rwlock_tryrdlock);
TXSYNC_LINKED_BEFORE_2_34_AS(__pthread_rwlock_wrlock, pthread_rwlock_wrlock);
TXSYNC_LINKED_BEFORE_2_34_AS(__pthread_rwlock_trywrlock, pthread_rwlock_trywrlock);
TXSYNC_LINKED_BEFORE_2_34_AS(__pthread_rwlock_unlock, pthread_rwlock_unlock);

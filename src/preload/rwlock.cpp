// SPDX-License-Identifier: Apache-2.0
// pthread_rwlock_*: futex_rwlock within the object's own bytes, or, by policy, a mutex that readers take too.
#include <pthread.h>

#include <cerrno>
#include <cstddef>
#include <new>

#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/futex_rwlock.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/observe/counters.hpp>

#include "deadline.hpp"
#include "interpose.hpp"
#include "mutex_state.hpp"
#include "next.hpp"
#include "sites.hpp"
#include "thread_number.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

namespace {

enum class rw_algorithm : std::uint8_t { unknown, libc, rwlock, as_mutex };

/// Laid over a pthread_rwlock_t; all zero, and what the static initialisers write, is a valid unlocked one.
struct rwlock_state {
  union {
    futex_rwlock rwlock;
    futex_mutex mutex;
  };
  std::uint32_t depth;               // as_mutex: times locked, less one; the owner's
  std::atomic<std::uint32_t> forks;  // see forget_parents_sleepers()
  std::uint32_t unused[2];
  std::atomic<std::uint32_t> writer;  // number of the thread inside as a writer (as_mutex: in any way); 0: none
  std::uint32_t process_shared;       // the C library's, at its place
  std::uint16_t more_unused;
  std::atomic<std::uint16_t> tag;  // rw_algorithm << 12 | site
  std::uint32_t written;           // as_mutex: the owner came as a writer; the owner's
  std::uint64_t last_unused;
  std::uint32_t preference;  // the C library's: PTHREAD_RWLOCK_PREFER_..., at its place
};
static_assert(sizeof(rwlock_state) <= sizeof(pthread_rwlock_t));
#ifdef __x86_64__
static_assert(offsetof(rwlock_state, writer) == offsetof(pthread_rwlock_t, __data.__cur_writer));
static_assert(offsetof(rwlock_state, process_shared) == offsetof(pthread_rwlock_t, __data.__shared));
static_assert(offsetof(rwlock_state, preference) == offsetof(pthread_rwlock_t, __data.__flags));
#endif

rwlock_state& state_of(pthread_rwlock_t* lock) noexcept { return *std::launder(reinterpret_cast<rwlock_state*>(lock)); }

struct rw_tag {
  std::uint16_t bits = 0;
  rw_algorithm how() const noexcept { return static_cast<rw_algorithm>(bits >> 12); }
  std::uint32_t site() const noexcept { return bits & 0xFFF; }
};

rw_tag decide(const rwlock_state& lock) noexcept {
  const site_answer answer = site_of_caller(object_kind::rwlock);
  rw_algorithm how = rw_algorithm::rwlock;
  if (lock.process_shared != 0 || answer.policy.rwlock == policy::rwlock_kind::libc)
    how = rw_algorithm::libc;
  else if (answer.policy.rwlock == policy::rwlock_kind::as_mutex)
    how = rw_algorithm::as_mutex;
  const std::uint32_t site = answer.policy.counting ? answer.site : 0;
  return {static_cast<std::uint16_t>(static_cast<unsigned>(how) << 12 | site)};
}

rw_tag tag_of(rwlock_state& lock) noexcept {
  // relaxed here and below: nothing but the tag itself changes when a lock is decided
  std::uint16_t bits = lock.tag.load(std::memory_order_relaxed);
  if (bits != 0) [[likely]]
    return {bits};
  const rw_tag mine = decide(lock);
  if (lock.tag.compare_exchange_strong(bits, mine.bits, std::memory_order_relaxed)) return mine;
  return {bits};
}

futex_rwlock::admit admission_of(const rwlock_state& lock) noexcept {
  return lock.preference == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP ? futex_rwlock::admit::after_writers
                                                                         : futex_rwlock::admit::readers_first;
}

enum class entry : std::uint8_t { read, write };

void count(std::uint32_t site) noexcept {
  // Without the time inside: readers overlap.
  if (--observe::detail::until_sample <= 0) [[unlikely]]
    observe::detail::sample(site, nullptr);
}

bool try_enter(rwlock_state& lock, entry how) noexcept {
  return how == entry::write ? lock.rwlock.try_lock() : lock.rwlock.try_lock_shared(admission_of(lock));
}

bool enter_until(rwlock_state& lock, entry how, std::uint64_t deadline) noexcept {
  return how == entry::write ? lock.rwlock.try_lock_until_ns(deadline)
                             : lock.rwlock.try_lock_shared_until_ns(deadline, admission_of(lock));
}

/// In the child of a fork: threads of the parent that slept do not exist, and must not keep readers out, who wait where
/// writers do. Before the first thread of this process is counted as a sleeper.
void forget_parents_sleepers(rwlock_state& lock) noexcept {
  const std::uint32_t done = 2 * machine::fork_count();
  if (done == 0) return;
  const std::uint32_t at_it = done - 1;
  std::uint32_t seen = lock.forks.load(std::memory_order_acquire);  // pairs with the release below
  while (seen != done) {
    // relaxed: only who is first matters
    if (seen != at_it && lock.forks.compare_exchange_strong(seen, at_it, std::memory_order_relaxed)) {
      lock.rwlock.forget_sleepers();
      lock.forks.store(done, std::memory_order_release);
      return;
    }
    machine::yield();
    seen = lock.forks.load(std::memory_order_acquire);
  }
}

bool try_enter_settled(rwlock_state& lock, entry how) noexcept {
  if (try_enter(lock, how)) [[likely]]
    return true;
  forget_parents_sleepers(lock);
  return try_enter(lock, how);
}

/// How long a thread will wait: 0 for a try, or what a time asked for.
struct patience {
  bool waits = true;
  const timespec* until = nullptr;
  clockid_t clock = CLOCK_REALTIME;
};

int find_deadline(const patience& how_long, std::uint64_t& deadline) noexcept {
  deadline = machine::no_deadline;
  if (how_long.until == nullptr) return 0;
  if (!is_time(*how_long.until)) return EINVAL;
  deadline = on_our_clock(how_long.clock, *how_long.until);
  return 0;
}

/// `tries`: an acquisition that does not wait; `waits`: one that does, until a deadline.
template <class Tries, class Waits>
int take(rw_tag tag, const patience& how_long, Tries tries, Waits waits) noexcept {
  if (!tries()) {
    if (!how_long.waits) return EBUSY;
    std::uint64_t deadline = machine::no_deadline;
    if (const int status = find_deadline(how_long, deadline); status != 0) return status;
    const std::uint64_t start = machine::cycles();
    if (!waits(deadline)) return ETIMEDOUT;
    observe::detail::waited(tag.site(), machine::cycles() - start);
  }
  count(tag.site());
  return 0;
}

int lock_as_rwlock(rwlock_state& lock, rw_tag tag, entry how, const patience& how_long) noexcept {
  // relaxed here and below: a thread's own number is in it only if it put it there
  if (lock.writer.load(std::memory_order_relaxed) == thread_number()) return how_long.waits ? EDEADLK : EBUSY;
  const int status = take(
      tag, how_long, [&]() noexcept { return try_enter_settled(lock, how); },
      [&](std::uint64_t deadline) noexcept { return enter_until(lock, how, deadline); });
  if (status == 0 && how == entry::write) lock.writer.store(my_number, std::memory_order_relaxed);
  return status;
}

/// Readers may come again, as under the real one; a reader that wants to write would wait for itself there.
int lock_as_mutex(rwlock_state& lock, rw_tag tag, entry how, const patience& how_long) noexcept {
  if (lock.writer.load(std::memory_order_relaxed) == thread_number()) {
    if (how == entry::write || lock.written != 0) return how_long.waits ? EDEADLK : EBUSY;
    ++lock.depth;
    return 0;
  }
  const int status = take(
      tag, how_long, [&]() noexcept { return lock.mutex.try_lock(); },
      [&](std::uint64_t deadline) noexcept { return lock.mutex.try_lock_until_ns(deadline); });
  if (status != 0) return status;
  lock.writer.store(my_number, std::memory_order_relaxed);
  lock.depth = 0;
  lock.written = how == entry::write;
  return 0;
}

int lock_ours(rwlock_state& lock, rw_tag tag, entry how, const patience& how_long) noexcept {
  return tag.how() == rw_algorithm::as_mutex ? lock_as_mutex(lock, tag, how, how_long)
                                             : lock_as_rwlock(lock, tag, how, how_long);
}

int unlock_mutex(rwlock_state& lock, rw_tag tag) noexcept {
  const std::uint32_t owner = lock.writer.load(std::memory_order_relaxed);
  if (owner != my_number) tell(owner == 0 ? notice_kind::double_unlock : notice_kind::unlock_by_stranger, tag.site());
  if (owner == 0) return EPERM;
  if (lock.depth != 0) {
    --lock.depth;
    return 0;
  }
  lock.writer.store(0, std::memory_order_relaxed);
  lock.mutex.unlock();
  return 0;
}

int unlock_rwlock(rwlock_state& lock, rw_tag tag) noexcept {
  if (lock.rwlock.has_writer()) {
    if (lock.writer.load(std::memory_order_relaxed) != my_number) tell(notice_kind::unlock_by_stranger, tag.site());
    lock.writer.store(0, std::memory_order_relaxed);
    lock.rwlock.unlock();
    return 0;
  }
  if (lock.rwlock.readers() == 0) {
    tell(notice_kind::double_unlock, tag.site());
    return EPERM;
  }
  lock.rwlock.unlock_shared();
  return 0;
}

int lock_timed(pthread_rwlock_t* raw, entry how, const patience& how_long) noexcept {
  rwlock_state& lock = state_of(raw);
  const rw_tag tag = tag_of(lock);
  if (tag.how() != rw_algorithm::libc) return lock_ours(lock, tag, how, how_long);
  const bool read = how == entry::read;
  if (how_long.clock == CLOCK_REALTIME)
    return read ? next().rwlock_timedrdlock(raw, how_long.until) : next().rwlock_timedwrlock(raw, how_long.until);
  const auto function = read ? next().rwlock_clockrdlock : next().rwlock_clockwrlock;
  return function != nullptr ? function(raw, how_long.clock, how_long.until) : ENOTSUP;
}

bool is_clock(clockid_t clock) noexcept { return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC; }

int destroy(pthread_rwlock_t* raw) noexcept {
  rwlock_state& lock = state_of(raw);
  const rw_tag tag{lock.tag.load(std::memory_order_relaxed)};
  if (tag.how() == rw_algorithm::libc) {
    const int status = next().rwlock_destroy(raw);
    if (status == 0) lock.tag.store(0, std::memory_order_relaxed);
    return status;
  }
  const bool held = tag.how() == rw_algorithm::as_mutex ? lock.writer.load(std::memory_order_relaxed) != 0
                                                        : lock.rwlock.has_writer() || lock.rwlock.readers() != 0;
  if (held) {
    tell(notice_kind::destroyed_locked, tag.site());
    return EBUSY;
  }
  lock.tag.store(0, std::memory_order_relaxed);
  return 0;
}

}  // namespace

}  // namespace txsync::inline TXSYNC_BACKEND::preload

using namespace txsync::preload;

TXSYNC_INTERPOSE int pthread_rwlock_init(pthread_rwlock_t* lock, const pthread_rwlockattr_t* attributes) noexcept {
  const int status = next().rwlock_init(lock, attributes);
  if (status == 0) state_of(lock).tag.store(decide(state_of(lock)).bits, std::memory_order_relaxed);
  return status;
}
TXSYNC_INTERPOSE int pthread_rwlock_destroy(pthread_rwlock_t* lock) noexcept { return destroy(lock); }

TXSYNC_INTERPOSE int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  const rw_tag tag = tag_of(state_of(lock));
  if (tag.how() == rw_algorithm::libc) return next().rwlock_rdlock(lock);
  return lock_ours(state_of(lock), tag, entry::read, {});
}
TXSYNC_INTERPOSE int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) noexcept {
  const rw_tag tag = tag_of(state_of(lock));
  if (tag.how() == rw_algorithm::libc) return next().rwlock_tryrdlock(lock);
  return lock_ours(state_of(lock), tag, entry::read, {.waits = false});
}
TXSYNC_INTERPOSE int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* time) noexcept {
  return lock_timed(lock, entry::read, {.until = time});
}
TXSYNC_INTERPOSE int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                                const timespec* time) noexcept {
  return is_clock(clock) ? lock_timed(lock, entry::read, {.until = time, .clock = clock}) : EINVAL;
}

TXSYNC_INTERPOSE int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  const rw_tag tag = tag_of(state_of(lock));
  if (tag.how() == rw_algorithm::libc) return next().rwlock_wrlock(lock);
  return lock_ours(state_of(lock), tag, entry::write, {});
}
TXSYNC_INTERPOSE int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) noexcept {
  const rw_tag tag = tag_of(state_of(lock));
  if (tag.how() == rw_algorithm::libc) return next().rwlock_trywrlock(lock);
  return lock_ours(state_of(lock), tag, entry::write, {.waits = false});
}
TXSYNC_INTERPOSE int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* time) noexcept {
  return lock_timed(lock, entry::write, {.until = time});
}
TXSYNC_INTERPOSE int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                                const timespec* time) noexcept {
  return is_clock(clock) ? lock_timed(lock, entry::write, {.until = time, .clock = clock}) : EINVAL;
}

TXSYNC_INTERPOSE int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  rwlock_state& state = state_of(lock);
  const rw_tag tag = tag_of(state);
  if (tag.how() == rw_algorithm::libc) return next().rwlock_unlock(lock);
  return tag.how() == rw_algorithm::as_mutex ? unlock_mutex(state, tag) : unlock_rwlock(state, tag);
}

// SPDX-License-Identifier: Apache-2.0
#include "foreign_mutex.hpp"

#include <atomic>
#include <cerrno>

#include <txsync/machine/assert.hpp>
#include <txsync/observe/counters.hpp>
#include <txsync/speculate/warm_up.hpp>

#include "acquisition.hpp"
#include "contention.hpp"
#include "identity.hpp"
#include "next.hpp"
#include "order.hpp"
#include "sites.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

std::int32_t kind_of(pthread_mutex_t* raw) noexcept {
  return state_of(raw).kind.load(std::memory_order_relaxed);  // relaxed: constant since the initialisation
}

bool is_robust(pthread_mutex_t* raw) noexcept { return (kind_of(raw) & mutex_state::robust_bit) != 0; }

/// Whether wrong use is watched: for normal and adaptive mutexes. With other kinds it is no mistake, or the C library
/// reports it.
bool is_watched(pthread_mutex_t* raw) noexcept {
  const std::int32_t kind = kind_of(raw);
  if ((kind & mutex_state::foreign_bits) != 0) return false;
  return (kind & mutex_state::kind_bits) == PTHREAD_MUTEX_NORMAL ||
         (kind & mutex_state::kind_bits) == PTHREAD_MUTEX_ADAPTIVE_NP;
}

// What the C library keeps in a mutex. relaxed, both: only a look; it is exact for what the calling thread itself has
// done.
int word_of(pthread_mutex_t* raw) noexcept {
  return std::atomic_ref<int>(raw->__data.__lock).load(std::memory_order_relaxed);
}
int owner_of(pthread_mutex_t* raw) noexcept {
  return std::atomic_ref<int>(raw->__data.__owner).load(std::memory_order_relaxed);
}

/// Whether the calling thread has locked it. In the child of a fork, the C library does not know what the thread held.
enum class ownership : std::uint8_t { mine, none, another, unknown };
ownership ownership_of(pthread_mutex_t* raw) noexcept {
  const std::uint32_t number = thread_number();
  if (number >= first_own_number) return ownership::unknown;  // a sandbox hides the kernel's numbers (sandbox.cpp)
  if (word_of(raw) == 0) return ownership::none;
  const auto owner = static_cast<std::uint32_t>(owner_of(raw));
  if (owner == number) return ownership::mine;
  return is_callers(owner, raw) ? ownership::unknown : ownership::another;
}

bool is_acquired(int status) noexcept { return status == 0 || status == EOWNERDEAD; }

/// For an acquisition that is a sample, or whose order is watched.
[[gnu::noinline, gnu::cold]] void count_slowly(pthread_mutex_t* raw, lock_tag tag, acquire_kind kind) noexcept {
  if (observe::detail::until_sample <= 0) (void)observe::detail::sample(tag.site(), raw);
  if (watches_order()) acquired_in_order(raw, tag.site(), kind);
}

[[gnu::always_inline]] inline void count(pthread_mutex_t* raw, lock_tag tag, acquire_kind kind) noexcept {
  if (--observe::detail::until_sample <= 0 || watches_order()) [[unlikely]]
    count_slowly(raw, tag, kind);
}

void give_up(pthread_mutex_t* raw) noexcept {
  observe::detail::hold_ends_if_timed(raw);
  if (watches_order()) [[unlikely]]
    released_in_order(raw);
}

/// In place of a status: the calling thread is in an always-abort attempt that runs the critical section ahead.
constexpr int inside_attempt = -1;

/// The result of the last try; EBUSY: there is nothing more to run ahead.
int run_ahead(pthread_mutex_t* raw, site& lock_site) noexcept {
  const auto is_over = [](const void* mutex, std::uint64_t) noexcept {
    return word_of(static_cast<pthread_mutex_t*>(const_cast<void*>(mutex))) == 0;
  };
  warm_wait ahead(lock_site);
  runs_ahead_of(state_of(raw));
  int status = EBUSY;
  while (status == EBUSY) {
    const wait_task::result result = ahead.run_once({is_over, raw, 0, 1});
    if (result == wait_task::result::in_attempt) return inside_attempt;
    if (result == wait_task::result::nothing) break;
    status = next().mutex_trylock(raw);
  }
  return status;
}

/// `ahead`: the site whose policy lets the waiter run ahead; null: it does not.
template <class Lock>
int wait_for(pthread_mutex_t* raw, lock_tag tag, site* ahead, Lock lock) noexcept {
  const begun_wait wait = begin_wait(tag.site(), raw, lock_call::mutex);
  int status = ahead != nullptr ? run_ahead(raw, *ahead) : EBUSY;
  if (status == inside_attempt) {
    forget_wait(wait);
    return status;
  }
  if (status == EBUSY) status = lock();
  if (is_acquired(status)) {
    end_wait(tag.site(), raw, lock_call::mutex, wait);
  } else {
    fail_wait(tag.site(), raw, lock_call::mutex, wait);
  }
  return status;
}

int count_outcome(pthread_mutex_t* raw, lock_tag tag, int status) noexcept {
  if (status == inside_attempt) return 0;
  if (is_acquired(status)) count(raw, tag, acquire_kind::waits);
  return status;
}

/// `lock`: the real call, which may wait. If nothing is counted or run ahead, it is the only call. The word of a robust
/// mutex is only read. A try that finds it not recoverable leaves it locked for ever (glibc 2.36), unlike a lock call.
template <class Lock>
int lock_and_count(pthread_mutex_t* raw, lock_tag tag, site* ahead, Lock lock) noexcept {
  if (tag.site() == 0 && ahead == nullptr) return lock();
  int status;
  if (is_robust(raw)) {
    status = word_of(raw) != 0 ? wait_for(raw, tag, nullptr, lock) : lock();
  } else {
    // The real call would return any other result, too.
    status = next().mutex_trylock(raw);
    if (status == EBUSY) status = wait_for(raw, tag, ahead, lock);
  }
  return count_outcome(raw, tag, status);
}

void report_if_relocked(pthread_mutex_t* raw, lock_tag tag) noexcept {
  if (tag.site() != 0 && is_watched(raw) && ownership_of(raw) == ownership::mine)
    report(diagnostic_kind::relock_by_owner, tag.site());
}

int real_lock(pthread_mutex_t* raw, lock_tag tag) noexcept {
  report_if_relocked(raw, tag);
  return next().mutex_lock(raw);
}

[[gnu::noinline]] int lock_in_general(pthread_mutex_t* raw, lock_tag tag) noexcept {
  count_for_trials(tag);
  return lock_and_count(raw, tag, runs_ahead_by(tag), [raw, tag]() noexcept { return real_lock(raw, tag); });
}

/// A try by lock_foreign() has returned anything but 0.
[[gnu::noinline]] int after_try(pthread_mutex_t* raw, lock_tag tag, int status) noexcept {
  if (status == EBUSY) status = wait_for(raw, tag, nullptr, [raw, tag]() noexcept { return real_lock(raw, tag); });
  return count_outcome(raw, tag, status);
}

/// A counted mutex is about to be given up. Does nothing if the calling thread obviously holds it.
[[gnu::noinline]] void report_if_not_held(pthread_mutex_t* raw, lock_tag tag) noexcept {
  const ownership whose = is_watched(raw) ? ownership_of(raw) : ownership::mine;
  if (whose == ownership::none || whose == ownership::another)
    report(whose == ownership::none ? diagnostic_kind::double_unlock : diagnostic_kind::unlock_by_non_owner,
           tag.site());
}

/// Whether the mutex holds the kernel's number of the calling thread. False is no statement: the thread may have no
/// number yet.
bool is_plainly_mine(pthread_mutex_t* raw) noexcept {
  return static_cast<std::uint32_t>(owner_of(raw)) == my_number && word_of(raw) != 0;
}

}  // namespace

int lock_foreign(pthread_mutex_t* raw, lock_tag tag) noexcept {
  TXSYNC_ASSERT(is_left_to_libc(tag), "the mutex is one of those that the C library's functions take");
  if (runs_ahead()) [[unlikely]]
    return 0;
  // Most are counted, free and without a role. This does for them what lock_in_general() does.
  if (tag.site() == 0 || tag.has_role() || is_robust(raw)) [[unlikely]]
    return lock_in_general(raw, tag);
  const int status = next().mutex_trylock(raw);
  if (status != 0) [[unlikely]]
    return after_try(raw, tag, status);
  count(raw, tag, acquire_kind::waits);
  return 0;
}

int lock_foreign_until(pthread_mutex_t* raw, lock_tag tag, clockid_t clock, const timespec* time) noexcept {
  if (clock != CLOCK_REALTIME && next().mutex_clocklock == nullptr) return ENOTSUP;
  if (runs_ahead()) return 0;
  count_for_trials(tag);
  return lock_and_count(raw, tag, nullptr, [&]() noexcept {
    report_if_relocked(raw, tag);
    return clock == CLOCK_REALTIME ? next().mutex_timedlock(raw, time) : next().mutex_clocklock(raw, clock, time);
  });
}

int try_lock_foreign(pthread_mutex_t* raw, lock_tag tag) noexcept {
  if (runs_ahead()) return 0;
  const int status = next().mutex_trylock(raw);
  if (is_acquired(status)) count(raw, tag, acquire_kind::tries);
  return status;
}

int unlock_foreign(pthread_mutex_t* raw, lock_tag tag) noexcept {
  TXSYNC_ASSERT(is_left_to_libc(tag), "the mutex is one of those that the C library's functions give up");
  if (runs_ahead()) [[unlikely]] {
    unlock_ahead(state_of(raw));
    return 0;
  }
  if (tag.site() == 0) return next().mutex_unlock(raw);
  give_up(raw);
  if (!is_plainly_mine(raw)) [[unlikely]]
    report_if_not_held(raw, tag);
  const int status = next().mutex_unlock(raw);
  released(raw);
  return status;
}

int destroy_foreign(pthread_mutex_t* raw, lock_tag tag) noexcept {
  if (runs_ahead()) leave_attempt();
  const int status = next().mutex_destroy(raw);
  if (status == EBUSY) report(diagnostic_kind::destroyed_locked, tag.site());
  if (status != 0) return status;
  if (watches_order()) forget_in_order(raw);
  state_of(raw).tag.store(0, std::memory_order_relaxed);  // relaxed: nothing else is read because of it
  return 0;
}

void before_foreign_wait(pthread_mutex_t* raw, lock_tag tag) noexcept {
  if (tag.site() == 0) return;
  const ownership whose = is_watched(raw) ? ownership_of(raw) : ownership::mine;
  if (whose == ownership::none || whose == ownership::another) report(diagnostic_kind::wait_without_mutex, tag.site());
  give_up(raw);
}

void after_foreign_wait(pthread_mutex_t* raw, lock_tag tag) noexcept {
  if (tag.site() != 0) count(raw, tag, acquire_kind::waits);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

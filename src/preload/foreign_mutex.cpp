// SPDX-License-Identifier: Apache-2.0
#include "foreign_mutex.hpp"

#include <atomic>
#include <cerrno>

#include <txsync/observe/counters.hpp>
#include <txsync/speculate/warm_up.hpp>

#include "acquisition.hpp"
#include "contention.hpp"
#include "identity.hpp"
#include "next.hpp"
#include "order.hpp"
#include "sites.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

namespace {

std::int32_t kind_of(pthread_mutex_t* raw) noexcept {
  return state_of(raw).kind.load(std::memory_order_relaxed);  // relaxed: constant since the initialisation
}

bool is_robust(pthread_mutex_t* raw) noexcept { return (kind_of(raw) & mutex_state::robust_bit) != 0; }

/// Of normal and adaptive mutexes: what others do with them is no mistake, or the C library's answer.
bool is_watched(pthread_mutex_t* raw) noexcept {
  const std::int32_t kind = kind_of(raw);
  if ((kind & mutex_state::foreign_bits) != 0) return false;
  return (kind & mutex_state::kind_bits) == PTHREAD_MUTEX_NORMAL ||
         (kind & mutex_state::kind_bits) == PTHREAD_MUTEX_ADAPTIVE_NP;
}

// What the C library keeps in a mutex. relaxed, both: a look only, exact for what the calling thread has done itself.
int word_of(pthread_mutex_t* raw) noexcept {
  return std::atomic_ref<int>(raw->__data.__lock).load(std::memory_order_relaxed);
}
int owner_of(pthread_mutex_t* raw) noexcept {
  return std::atomic_ref<int>(raw->__data.__owner).load(std::memory_order_relaxed);
}

/// Whether the calling thread has locked it. The C library knows nothing of what the thread of a fork's child held.
enum class ownership : std::uint8_t { mine, none, another, unknown };
ownership ownership_of(pthread_mutex_t* raw) noexcept {
  const std::uint32_t mine = thread_number();
  if (mine >= first_own_number) return ownership::unknown;  // a sandbox does not tell the kernel's (sandbox.cpp)
  if (word_of(raw) == 0) return ownership::none;
  const auto owner = static_cast<std::uint32_t>(owner_of(raw));
  if (owner == mine) return ownership::mine;
  return is_callers(owner, raw) ? ownership::unknown : ownership::another;
}

bool is_acquired(int status) noexcept { return status == 0 || status == EOWNERDEAD; }

void count(pthread_mutex_t* raw, lock_tag tag, arrival came) noexcept {
  observe::detail::acquired(tag.site(), raw);
  if (watches_order()) [[unlikely]]
    acquired_in_order(raw, tag.site(), came);
}

void give_up(pthread_mutex_t* raw) noexcept {
  observe::detail::hold_ends_if_timed(raw);
  if (watches_order()) [[unlikely]]
    released_in_order(raw);
}

/// In place of a status: the calling thread is in an always-abort attempt that runs the section ahead.
constexpr int inside_attempt = -1;

/// What the last try came to; EBUSY: there is nothing more to do ahead.
int run_ahead(pthread_mutex_t* raw, site& place) noexcept {
  const auto is_over = [](const void* mutex, std::uint64_t) noexcept {
    return word_of(static_cast<pthread_mutex_t*>(const_cast<void*>(mutex))) == 0;
  };
  warm_wait ahead(place);
  runs_ahead_of(state_of(raw));
  int status = EBUSY;
  while (status == EBUSY) {
    const pastime::spent spent = ahead.spend({is_over, raw, 0, 1});
    if (spent == pastime::spent::inside_attempt) return inside_attempt;
    if (spent == pastime::spent::nothing) break;
    status = next().mutex_trylock(raw);
  }
  return status;
}

/// `ahead`: by whose policy the waiter runs ahead; null: it does not.
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

/// `lock`: the real call, which may wait. If nothing is counted or run ahead, it is the only call. The word of a robust
/// mutex is only read: a try that finds it not recoverable leaves it locked for ever (glibc 2.36), unlike a lock call.
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
  if (status == inside_attempt) return 0;
  if (is_acquired(status)) count(raw, tag, arrival::waits);
  return status;
}

void tell_if_relocked(pthread_mutex_t* raw, lock_tag tag) noexcept {
  if (tag.site() != 0 && is_watched(raw) && ownership_of(raw) == ownership::mine)
    tell(notice_kind::relock_by_owner, tag.site());
}

}  // namespace

int lock_foreign(pthread_mutex_t* raw, lock_tag tag) noexcept {
  if (runs_ahead()) return 0;
  count_for_trials(tag);
  return lock_and_count(raw, tag, runs_ahead_by(tag), [raw, tag]() noexcept {
    tell_if_relocked(raw, tag);
    return next().mutex_lock(raw);
  });
}

int lock_foreign_until(pthread_mutex_t* raw, lock_tag tag, clockid_t clock, const timespec* time) noexcept {
  if (clock != CLOCK_REALTIME && next().mutex_clocklock == nullptr) return ENOTSUP;
  if (runs_ahead()) return 0;
  count_for_trials(tag);
  return lock_and_count(raw, tag, nullptr, [&]() noexcept {
    tell_if_relocked(raw, tag);
    return clock == CLOCK_REALTIME ? next().mutex_timedlock(raw, time) : next().mutex_clocklock(raw, clock, time);
  });
}

int try_lock_foreign(pthread_mutex_t* raw, lock_tag tag) noexcept {
  if (runs_ahead()) return 0;
  const int status = next().mutex_trylock(raw);
  if (is_acquired(status)) count(raw, tag, arrival::tries);
  return status;
}

int unlock_foreign(pthread_mutex_t* raw, lock_tag tag) noexcept {
  if (runs_ahead()) {
    unlock_ahead(state_of(raw));
    return 0;
  }
  if (tag.site() != 0) {
    give_up(raw);
    const ownership whose = is_watched(raw) ? ownership_of(raw) : ownership::mine;
    if (whose == ownership::none || whose == ownership::another) [[unlikely]]
      tell(whose == ownership::none ? notice_kind::double_unlock : notice_kind::unlock_by_stranger, tag.site());
  }
  const int status = next().mutex_unlock(raw);
  if (tag.site() != 0) released(raw);
  return status;
}

int destroy_foreign(pthread_mutex_t* raw, lock_tag tag) noexcept {
  if (runs_ahead()) leave_attempt();
  const int status = next().mutex_destroy(raw);
  if (status == EBUSY) tell(notice_kind::destroyed_locked, tag.site());
  if (status != 0) return status;
  if (watches_order()) forget_in_order(raw);
  state_of(raw).tag.store(0, std::memory_order_relaxed);  // relaxed: nothing else is read because of it
  return 0;
}

void before_foreign_wait(pthread_mutex_t* raw, lock_tag tag) noexcept {
  if (tag.site() == 0) return;
  const ownership whose = is_watched(raw) ? ownership_of(raw) : ownership::mine;
  if (whose == ownership::none || whose == ownership::another) tell(notice_kind::wait_without_mutex, tag.site());
  give_up(raw);
}

void after_foreign_wait(pthread_mutex_t* raw, lock_tag tag) noexcept {
  if (tag.site() != 0) count(raw, tag, arrival::waits);
}

}  // namespace txsync::inline TXSYNC_BACKEND::preload

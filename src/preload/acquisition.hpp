// SPDX-License-Identifier: Apache-2.0
// How a mutex_state is taken and given up, by its site's policy: for pthread_mutex_*, and for pthread_rwlock_* where a
// policy makes them mutexes. Who owns it, and what POSIX wants besides, is the callers' business.
#pragma once

#include <cstdint>

#include <txsync/machine/attempt.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/speculate/elision.hpp>

#include "contention.hpp"
#include "mutex_state.hpp"
#include "sites.hpp"
#include "speculating_sites.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

/// Whether the policy asks that sections run as attempts.
bool wants_elision(const policy::packed& policy) noexcept;

/// Whether locks under the policy need their site's number: they are counted there, or learn there how to speculate.
bool needs_site(const policy::packed& policy) noexcept;

/// What a lock of the site is. `kind`: that of a pthread_mutex_t.
lock_tag decide(const site_answer& answer, std::int32_t kind) noexcept;

/// The lock itself: what is taken where nothing is run in its stead.
algorithm lock_under(lock_tag tag) noexcept;

/// Whether the C library's functions take it. Its waiters may run ahead all the same.
inline bool is_left_to_libc(lock_tag tag) noexcept {
  return tag.how() == algorithm::libc ||
         (tag.has_role() && speculating_site_of(tag.role()).choices().under == algorithm::libc);
}

/// Before a section that takes the lock: trials of warm-up want to know how many there are.
void count_for_trials(lock_tag tag) noexcept;
bool try_acquire(mutex_state& mutex, algorithm how) noexcept;

enum class gain : std::uint8_t {
  lock,
  nothing,  ///< the deadline has passed
  /// The caller is in an always-abort attempt that runs the section ahead of time: it goes on as if it held the lock,
  /// and writes nothing that says so. The attempt's end is in here once more.
  attempt,
};
/// After try_acquire() has failed: waits, as the policy says, and counts the wait. `how` is lock_under(tag), `call`
/// what the program called. The caller calls released(&mutex) when it has given the lock up.
gain acquire(mutex_state& mutex, lock_tag tag, algorithm how, std::uint64_t deadline, lock_call call) noexcept;

/// By the owner, as soon as it is. In the child of a fork: gets rid of waiters that are threads of the parent.
void settle_here(mutex_state& mutex, algorithm how) noexcept;
void release(mutex_state& mutex, algorithm how) noexcept;

// ---- sections as attempts: elision

/// True in an attempt that runs the section in the lock's stead. Requires: the calling thread does not hold the lock.
bool enter_elided(mutex_state& mutex, lock_tag tag) noexcept;
detail::try_outcome try_enter_elided(mutex_state& mutex, lock_tag tag) noexcept;
/// Whether the calling thread's attempt runs a section of the lock.
inline bool runs_elided(const mutex_state& mutex) noexcept {
  return detail::in_elided_attempt() && detail::elided_mode(&mutex.word) != latch_mode::none;
}
inline bool leave_elided(const mutex_state& mutex) noexcept {
  return detail::in_elided_attempt() && detail::leave_elided(&mutex.word);
}

// ---- sections run ahead of time: warm-up

/// Whether all that the calling thread does is for nothing. Locks are then neither taken nor given up: whoever has them
/// runs on, and is to be disturbed as little as can be.
inline bool runs_ahead() noexcept { return machine::warm_active(); }
/// The site by whose policy a wait for the lock runs ahead; null: it does not.
site* runs_ahead_by(lock_tag tag) noexcept;
/// Before an attempt: whose unlock ends it.
void runs_ahead_of(const mutex_state& mutex) noexcept;
/// An unlock while running ahead: that of the lock that is waited for ends the attempt, and does not return.
void unlock_ahead(const mutex_state& mutex) noexcept;

/// What is to be told or refused is found out with the locks taken: an attempt may see what it has done itself, and
/// cannot tell. Goes on only where no attempt runs.
inline void leave_attempt() noexcept {
  if (detail::in_elided_attempt() || runs_ahead()) machine::abort<machine::attempt_status::code_fall_back>();
}

}  // namespace txsync::inline TXSYNC_BACKEND::preload

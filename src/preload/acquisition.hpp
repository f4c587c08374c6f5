// SPDX-License-Identifier: Apache-2.0
// How a mutex_state is taken and given up under its site's policy: for pthread_mutex_*, and for pthread_rwlock_* that a
// policy makes mutexes. The callers handle ownership, and whatever else POSIX requires.
#pragma once

#include <cstdint>

#include <txsync/machine/attempt.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/speculate/elision.hpp>

#include "contention.hpp"
#include "mutex_state.hpp"
#include "sites.hpp"
#include "speculating_sites.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

/// Whether locks under the policy need their site's number: they are counted there, or learn there how to speculate.
bool needs_site(const policy::packed& policy) noexcept;

/// What kind of lock a lock of the site is. `kind`: that of a pthread_mutex_t. Never the C library's, unless `may_be_libcs`.
lock_tag decide(const site_answer& answer, std::int32_t kind, bool may_be_libcs = true) noexcept;

/// For a site that this process does not know.
[[gnu::noinline, gnu::cold]] site_choices choices_anew(std::uint32_t number) noexcept;
/// The choices for a lock whose tag has a role. All processes that use the lock make the same, except for what their
/// machine can do. `number`: the role.
inline site_choices choices_of(std::uint32_t number) noexcept {
  const speculating_site* const found = find_speculating_site(number);
  const std::uint32_t kept = found != nullptr ? found->kept_choices() : 0;
  if (kept == 0) [[unlikely]]
    return choices_anew(number);
  return speculating_site::choices_in(kept);
}

/// The lock itself: what is taken if no attempt runs in its place.
algorithm lock_under(lock_tag tag) noexcept;

/// Whether the C library's functions take it. Its waiters may run ahead even so.
inline bool is_left_to_libc(lock_tag tag) noexcept {
  return tag.lock_algorithm() == algorithm::libc || (tag.has_role() && choices_of(tag.role()).under == algorithm::libc);
}

/// Called before a critical section that takes the lock: trials of warm-up count these.
void count_for_trials(lock_tag tag) noexcept;
bool try_acquire(mutex_state& mutex, algorithm lock_algorithm) noexcept;
/// For a thread that may wait: false also if another thread has waited for so long that it is to be next.
bool acquire_in_turn(mutex_state& mutex, algorithm lock_algorithm) noexcept;

enum class acquire_result : std::uint8_t {
  acquired,
  timed_out,  ///< the deadline has passed
  /// The caller is in an always-abort attempt that runs the critical section ahead of time. It goes on as if it held
  /// the lock, and writes nothing that says so. When the attempt ends, control is in this call again.
  in_attempt,
};
/// To be called after one of these has failed: waits, as the policy says, and counts the wait. `lock_algorithm` is
/// lock_under(tag), `call` what the program called. The caller calls released(&mutex) when it has given the lock up.
acquire_result acquire(mutex_state& mutex, lock_tag tag, algorithm lock_algorithm, std::uint64_t deadline,
                       lock_call call) noexcept;

/// To be called by the new owner, at once. In the child of a fork: removes waiters that are threads of the parent.
void settle_here(mutex_state& mutex, algorithm lock_algorithm) noexcept;
void release(mutex_state& mutex, algorithm lock_algorithm) noexcept;

// ---- critical sections as attempts: elision

/// True in an attempt that runs the critical section in the lock's place. Requires: the calling thread does not hold
/// the lock.
bool enter_elided(mutex_state& mutex, lock_tag tag) noexcept;
detail::try_outcome try_enter_elided(mutex_state& mutex, lock_tag tag) noexcept;
/// Whether the calling thread's attempt runs a critical section of the lock.
inline bool runs_elided(const mutex_state& mutex) noexcept {
  return detail::in_elided_attempt() && detail::elided_mode(&mutex.word) != latch_mode::none;
}
inline bool leave_elided(const mutex_state& mutex) noexcept {
  return detail::in_elided_attempt() && detail::leave_elided(&mutex.word);
}

// ---- critical sections run ahead of time: warm-up

/// Whether the calling thread runs ahead, so that all its writes are undone. Locks are then neither taken nor given up:
/// their holder runs on, and is to be disturbed as little as possible.
inline bool runs_ahead() noexcept { return machine::warm_active(); }
/// The site whose policy lets a wait for the lock run ahead. Null: it does not.
site* runs_ahead_by(lock_tag tag) noexcept;
/// Called before an attempt: names the lock whose unlock ends it.
void runs_ahead_of(const mutex_state& mutex) noexcept;
/// An unlock while running ahead. For the lock that is waited for, it ends the attempt, and does not return.
void unlock_ahead(const mutex_state& mutex) noexcept;

/// Errors are reported or refused only with the locks taken: an attempt may see what it has done itself, and cannot
/// report. Returns only if no attempt runs.
inline void leave_attempt() noexcept {
  if (detail::in_elided_attempt() || runs_ahead()) machine::abort<machine::attempt_status::code_fall_back>();
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

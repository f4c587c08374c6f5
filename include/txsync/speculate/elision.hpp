// SPDX-License-Identifier: Apache-2.0
// What elided locks share: the attempt frame of the calling thread, and actions that run after the commit. The policy
// belongs to the site, and so does what was learnt under it (site.hpp). The locks are in elided.hpp. docs/elision.md
// says how it all works together.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>
#include <type_traits>

#include <txsync/export.hpp>
#include <txsync/locks/latch_mode.hpp>
#include <txsync/machine/assert.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/observe/counters.hpp>
#include <txsync/observe/site_state.hpp>
#include <txsync/policy/elision_policy.hpp>
#include <txsync/policy/site_with_policy.hpp>
#include <txsync/site.hpp>
#include <txsync/speculate/ab_trial.hpp>
#include <txsync/speculate/site_page.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

/// Whether sections of the site's locks take the lock at present. Reasons: hardware attempts do not work, the site's
/// policy makes none, a trial has found the lock faster, or the locks are not elided (mutex). A policy_mutex is elided
/// if the policy asks for it. Before the first section nothing is elided, and the answer is true. The same holds before
/// the first section after set_policy(), if the policy before made no attempts. If a policy_mutex and locks in elided<>
/// share a site whose policy says nothing about elision, the answer is that for the policy_mutex.
/// Thread-safe. Cost: a few loads.
TXSYNC_EXPORT bool takes_lock(const site& the_site) noexcept;

namespace detail {

/// Whether the lock is held in a mode that excludes a section of the mode in question.
using held_test = bool (*)(const void* lock) noexcept;

/// A section of the calling thread that runs in an attempt.
struct elided_section {
  const void* lock;
  latch_mode mode;
};

/// The last section that the calling thread has begun by taking its lock, until it ends. Its unlock need not check
/// whether the lock is held.
class last_taken {
 public:
  void remember(const void* lock, latch_mode mode) noexcept { what_ = mark(lock, mode); }
  bool is(const void* lock, latch_mode mode) const noexcept { return what_ == mark(lock, mode); }
  void forget() noexcept { what_ = nothing; }

 private:
  static constexpr std::uintptr_t nothing = 0;
  /// The addresses of locks are multiples of 4.
  static std::uintptr_t mark(const void* lock, latch_mode mode) noexcept {
    return reinterpret_cast<std::uintptr_t>(lock) + (mode == latch_mode::shared ? 1 : 0);
  }

  std::uintptr_t what_ = nothing;
};

/// A site's page, and whether attempts are counted at the site, in one word. So one comparison tells whether either has
/// changed.
class counted_page {
 public:
  constexpr counted_page() noexcept = default;
  explicit counted_page(site_page& how) noexcept
      : word_(reinterpret_cast<std::uintptr_t>(&how) | (how.counts_attempts() ? 1u : 0u)) {}
  site_page& page() const noexcept { return *reinterpret_cast<site_page*>(word_ & ~std::uintptr_t{1}); }
  bool is_counted() const noexcept { return (word_ & 1) != 0; }
  bool operator==(const counted_page&) const noexcept = default;

 private:
  std::uintptr_t word_ = 0;
};

/// The attempt frame: the calling thread's record of its open attempt and the sections in it. It is written inside
/// attempts; an abort undoes that. `countdown.bits()` is the state of the frame:
///
///     0            no attempt
///     in_section   in an attempt, which runs `count` sections
///     coarsened    in an attempt, between two sections (coarsening)
struct attempt_frame {
  static constexpr unsigned max_sections = 8;

  count_down countdown;       ///< until the next look at a trial; its bits are the state of the frame
  std::uint8_t count = 0;     ///< open sections in the attempt
  std::uint8_t done = 0;      ///< sections that the attempt has run to their end
  std::uint8_t actions = 0;   ///< deferred actions
  bool times_losses = false;  ///< measure what the next section loses in aborted attempts; used outside attempts
  std::uint32_t guards = 0;   ///< open scopes of elided_guard
  last_taken taken;
  counted_page how;                      ///< the page of the outermost section's site
  const site_page* timed_for = nullptr;  ///< the page whose next attempt is timed
  const void* outermost = nullptr;
  elided_section sections[max_sections] = {};
  std::uint64_t began = 0;  ///< machine::cycles() before a timed attempt

  static constexpr std::uint32_t in_section = 1;  ///< `count` is not 0
  static constexpr std::uint32_t coarsened = 2;   ///< the attempt goes on after its last section (coarsening)
  static constexpr std::uint32_t in_attempt = in_section | coarsened;

  bool is(std::uint32_t bits) const noexcept { return (countdown.bits() & bits) != 0; }
  void become(std::uint32_t bits) noexcept { countdown.set_bits(bits); }
};
[[gnu::tls_model("initial-exec")]] TXSYNC_EXPORT extern constinit thread_local attempt_frame my_attempt_frame;

/// Whether the calling thread is in an attempt of an elided lock.
inline bool in_elided_attempt() noexcept { return my_attempt_frame.is(attempt_frame::in_attempt); }

/// `state` is that of the site.
TXSYNC_EXPORT bool try_elision(site& the_site, site_state& state, const void* lock, latch_mode mode,
                               held_test held) noexcept;

/// Begins a section in an attempt that has read the lock: a thread that takes the lock aborts the attempt. Within an
/// attempt, the section becomes part of it. False: take the lock. Requires: machine::attempts_work().
inline bool enter_elided(site& the_site, const void* lock, latch_mode mode, held_test held) noexcept {
  TXSYNC_ASSERT(machine::attempts_work(), "the machine can run attempts");
  // If the site's sections take the lock at present, this costs little more than the check and the count.
  site_state& state = site_state::of(the_site);
  if (state.takes_lock() && !my_attempt_frame.countdown.ends()) return false;
  return try_elision(the_site, state, lock, mode, held);
}

/// What try_lock() has to do: `elided`: return true; `busy`: return false; `try_lock`: try the lock itself.
enum class try_outcome : std::uint8_t { elided, busy, try_lock };
TXSYNC_EXPORT try_outcome try_enter_elided(site& the_site, const void* lock, latch_mode mode, held_test held) noexcept;

/// Ends the section if an attempt runs it. False: the lock is to be released.
TXSYNC_EXPORT bool leave_elided(const void* lock) noexcept;

/// The mode in which the calling thread's attempt runs a section of the lock; none: it does not.
TXSYNC_EXPORT latch_mode elided_mode(const void* lock) noexcept;
TXSYNC_EXPORT void change_elided_mode(const void* lock, latch_mode mode) noexcept;

/// Reports a release of a lock that no thread holds, or by a node without a turn. It writes to the standard error, at
/// most once a second.
TXSYNC_EXPORT void report_double_unlock(const void* lock) noexcept;

/// An action, stored by value, so that an attempt needs no heap memory for it.
struct deferred_action {
  static constexpr std::size_t room = 32;
  void (*run)(void* data);
  alignas(std::max_align_t) unsigned char data[room];

  template <class Action>
  static deferred_action keep(Action action) noexcept {
    static_assert(std::is_trivially_copyable_v<Action> && std::is_trivially_destructible_v<Action>,
                  "an action is kept as bytes: it has to be trivially copyable, as a lambda is that captures numbers, "
                  "pointers and references");
    static_assert(sizeof(Action) <= room, "an action has 32 bytes at most");
    static_assert(std::is_nothrow_invocable_v<Action&>, "an action is noexcept: []() noexcept { ... }");
    deferred_action kept{};
    kept.run = [](void* data) { (*std::launder(static_cast<Action*>(data)))(); };
    new (kept.data) Action(action);
    return kept;
  }
};
TXSYNC_EXPORT void defer(const deferred_action& action) noexcept;
/// Whether an action has to wait for the end of a scope.
inline bool must_defer() noexcept { return in_elided_attempt() || my_attempt_frame.guards != 0; }
TXSYNC_EXPORT void run_deferred() noexcept;

}  // namespace detail

/// Commits the calling thread's coarsened attempt, if one goes on after its last section (policies with max_sections
/// over 1). Call it before the thread waits in user space for another thread: that thread may wait for what the attempt
/// has not shown yet. Call it also before a system call, which would abort the attempt with all its sections. No effect
/// within a section, or if no attempt goes on. Cost in that case: a load. Errors: none. Source: leveldb paper, 4.2.2.
TXSYNC_EXPORT void commit_coarsened() noexcept;

/// Runs `action` in the calling thread once its critical sections have ended (commit actions; leveldb paper, 4.1). When
/// it runs:
///  - in an attempt: after the attempt's commit. An attempt that aborts forgets its actions.
///  - otherwise, if an elided_guard holds its lock: when the outermost guard has released it;
///  - otherwise at once. That includes a section without a guard that has taken the lock.
///
/// Actions run in the order in which they were given.
/// Requires: `action` is trivially copyable, at most 32 bytes, and throws nothing. It may take locks and make system
/// calls. There is room for 16 actions at a time. One more makes the attempt fall back. If a guard holds its lock, the
/// waiting actions run at once, under the lock.
/// Cost: a copy. Errors: none.
template <class Action>
void on_commit(Action action) noexcept {
  if (!detail::must_defer()) return action();
  detail::defer(detail::deferred_action::keep(action));
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND

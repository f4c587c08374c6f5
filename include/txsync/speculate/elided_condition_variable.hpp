// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <txsync/condition_variable.hpp>
#include <txsync/machine/assert.hpp>
#include <txsync/speculate/elided.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

/// A condition variable for elided locks (LevelDB paper, 4.1). It works with and without attempts.
///
/// What it does: a wait in an attempt registers the waiter and commits what the section has done so far. The thread
/// then sleeps on the number of notifications. After the wait, the section goes on in a new attempt, or with the lock.
/// A notification in an attempt changes that number with the attempt's commit. It wakes sleepers after the commit, as
/// an action of on_commit(). The wake uses only the variable's address, so the variable may be gone by then.
/// A wait within two or more elided sections of the thread is not elided: no caller's section is ever committed half
/// done. The attempt falls back. The outer sections take their locks and keep them during the wait, as plain ones do.
/// Actions of on_commit() that were given before a wait run before the thread sleeps.
/// Requires: as condition_variable. All concurrent waiters use the same lock, elided<> or elided_shared<>, and wait in
/// exclusive sections.
/// Cost, contract of destruction, limits: as condition_variable. A wait or a notification in an attempt causes no
/// abort. Errors: none. Thread-safe. 16 bytes, constant-initialised.
class elided_condition_variable {
 public:
  constexpr elided_condition_variable() noexcept = default;

  void notify_one() noexcept { notify(1); }
  void notify_all() noexcept { notify(condition_variable::waiters_bits); }

  /// Requires: the calling thread is in a section of `lock`, which a guard may have begun. Returns false if
  /// machine::clock_ns() has reached the deadline without a notification. Spurious returns are possible.
  template <class Lock>
  bool wait(Lock& lock, std::uint64_t deadline = machine::no_deadline) noexcept {
    if constexpr (requires { lock.mode(); }) {
      TXSYNC_ASSERT(lock.mode() == latch_mode::exclusive, "the calling thread is in an exclusive section of the lock");
    }
    if (detail::my_attempt_frame.count > 1) machine::abort<machine::attempt_status::code_fall_back>();
    released_for_wait<Lock> released{lock};
    return core_.wait_with(released, deadline);
  }
  template <class Lock, class Predicate>
  void wait(Lock& lock, Predicate predicate) {
    while (!predicate()) wait(lock);
  }

 private:
  template <class Lock>
  struct released_for_wait {
    Lock& lock_;
    void unlock() noexcept TXSYNC_UNCHECKED {
      lock_.unlock();
      commit_coarsened();
      if (!detail::in_elided_attempt()) detail::run_deferred();
    }
    void lock() noexcept TXSYNC_UNCHECKED { lock_.lock(); }
  };

  void notify(std::uint64_t how_many) noexcept {
    if (!core_.announce(how_many)) return;
    on_commit([where = &core_, how_many]() noexcept { condition_variable::wake(where, how_many); });
  }

  condition_variable core_;
};
static_assert(sizeof(elided_condition_variable) == 16);

}  // namespace txsync::TXSYNC_INLINE_BACKEND

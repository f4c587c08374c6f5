// SPDX-License-Identifier: Apache-2.0
// Lock elision: sections of a lock run as hardware attempts beside each other, and take the lock only when that does
// not work. Shore-MT paper, section 3.2; InnoDB thesis, chapter 2.
#pragma once

#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/machine/attempt.hpp>

namespace txsync::inline TXSYNC_BACKEND {

/// When an attempt that was aborted is tried again. Cause by cause: a conflict waits a random while and retries; a lock
/// that is held is waited for; what cannot be cured by another try (capacity, nesting, a fault, a system call, an abort
/// by the section itself) takes the lock.
struct retry_rules {
  std::uint32_t attempts = 5;            ///< at most so many, each of which ended for a cause that counts
  bool busy_counts = false;              ///< a lock found held uses one up: the mistake that makes lemmings
  bool waits_for_lock = true;            ///< tries again when the lock is free, and not before
  std::uint32_t longest_backoff = 2048;  ///< cycles, after a conflict
};

namespace detail {

/// What to do after an aborted attempt; slow path of elided.
class TXSYNC_EXPORT retry {
 public:
  explicit retry(const retry_rules& rules) noexcept : rules_(rules), left_(rules.attempts) {}
  /// True: try again now, after what had to be waited for. `held(lock)` tells whether the lock is.
  bool again(machine::attempt_status status, bool (*held)(const void* lock), const void* lock) noexcept;

 private:
  void back_off() noexcept;

  const retry_rules& rules_;
  std::uint32_t left_;
  std::uint32_t pause_ = 64;
};

/// Begins an attempt that has read the lock word: whoever takes the lock aborts it. False: take the lock. Lock has
/// is_held().
template <class Lock>
bool begin_elided(const Lock& lock, const retry_rules& rules) noexcept {
  if (!machine::htm().attempts) return false;
  retry decide(rules);
  for (;;) {
    const machine::attempt_status status = machine::begin();
    if (status.started()) {
      if (!lock.is_held()) return true;
      machine::abort<machine::attempt_status::code_lock_busy>();
    }
    if (!decide.again(status, [](const void* one) { return static_cast<const Lock*>(one)->is_held(); }, &lock)) {
      return false;
    }
  }
}

/// Whether the calling thread runs the lock's section in an attempt, or else holds the lock.
template <class Lock>
bool is_elided_now(const Lock& lock) noexcept {
  return machine::active() && !lock.is_held();
}

}  // namespace detail

/// A lock whose sections are elided. Lock is one of ours: with lock(), unlock() and is_held(). Lockable; sections of
/// one lock may be nested in those of another (flat: the inner one becomes part of the attempt). Requires: unlock() is
/// called where lock() was, by the same thread, inside the same attempts: the CPU is asked whether one is running.
/// Cost: begin and commit of an attempt (36..96 cycles) and one read of the lock word, shared by all.
template <class Lock>
class elided {
 public:
  constexpr explicit elided(const retry_rules& rules = default_rules) noexcept : rules_(rules) {}
  elided(const elided&) = delete;
  elided& operator=(const elided&) = delete;

  void lock() noexcept {
    if (!begin()) lock_.lock();
  }
  void unlock() noexcept {
    if (detail::is_elided_now(lock_)) {
      machine::end();
    } else {
      lock_.unlock();
    }
  }

  static constexpr retry_rules default_rules{};

 protected:
  bool begin() noexcept { return detail::begin_elided(lock_, rules_); }

  const retry_rules& rules_;
  Lock lock_;
};

/// The same for queue locks, whose waiters bring a node.
template <class Lock>
class elided_with_node : private elided<Lock> {
 public:
  using node = typename Lock::node;
  using elided<Lock>::elided;

  void lock(node& mine) noexcept {
    if (!this->begin()) this->lock_.lock(mine);
  }
  void unlock(node& mine) noexcept {
    if (detail::is_elided_now(this->lock_)) {
      machine::end();
    } else {
      this->lock_.unlock(mine);
    }
  }
};

}  // namespace txsync::inline TXSYNC_BACKEND

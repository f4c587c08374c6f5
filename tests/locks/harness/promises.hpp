// SPDX-License-Identifier: Apache-2.0
// One way to use every lock, and what each of them promises beyond being Lockable.
#pragma once

namespace conformance {

/// The suite checks what is promised, and only that. promises<Lock> derives from this, says where it differs, and adds
/// `name` and the stated size, `bytes`.
struct usual_promises {
  /// constinit works.
  static constexpr bool static_initialisation = true;
  /// Memory of zero bytes is an unlocked lock.
  static constexpr bool zero_is_unlocked = true;
  static constexpr bool trivially_destructible = true;
  /// The next owner may unlock and destroy the lock as soon as it has it, though the last one's unlock() still runs.
  static constexpr bool next_owner_may_destroy = true;
  /// lock(), try_lock() and unlock() without arguments.
  static constexpr bool lockable = true;
  /// try_lock() on a free lock succeeds within so many tries.
  static constexpr unsigned tries_on_free = 1;
  /// Served in the order of arrival, without exception.
  static constexpr bool strictly_fifo = false;
  /// Readers that never leave the lock free of readers do not keep a writer out for ever.
  static constexpr bool writers_get_in = false;
  /// Writers that follow each other without a gap do not keep a reader out for ever.
  static constexpr bool readers_get_in = false;
};

template <class Lock>
struct promises;

/// A thread's way to a lock: keeps what some locks want kept from lock() to unlock() (a queue node). Is itself
/// Lockable.
template <class Lock>
class holder {
 public:
  explicit holder(Lock& lock) : lock_(lock) {}
  void lock() { lock_.lock(); }
  bool try_lock() { return lock_.try_lock(); }
  void unlock() { lock_.unlock(); }

 private:
  Lock& lock_;
};

/// Locks with queue nodes.
template <class Lock>
  requires requires { typename Lock::node; }
class holder<Lock> {
 public:
  explicit holder(Lock& lock) : lock_(lock) {}
  void lock() { lock_.lock(node_); }
  bool try_lock() { return lock_.try_lock(node_); }
  void unlock() { lock_.unlock(node_); }

 private:
  Lock& lock_;
  typename Lock::node node_;
};

/// try_lock() on a lock that nobody holds, as often as its promise allows.
template <class Lock>
bool try_free_lock(holder<Lock>& hold) {
  for (unsigned i = 0; i < promises<Lock>::tries_on_free; ++i) {
    if (hold.try_lock()) return true;
  }
  return false;
}

}  // namespace conformance

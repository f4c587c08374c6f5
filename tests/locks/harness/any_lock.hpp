// SPDX-License-Identifier: Apache-2.0
// Every exclusive lock behind one type, for scenarios about the order of owners and not about the compiled fast path.
// They are compiled once instead of once for each lock.
#pragma once

#include <cstddef>
#include <new>

#include "harness/promises.hpp"

namespace conformance {

/// What any_lock does with the lock it stands for, and with a thread's way to it.
struct lock_kind {
  const char* name;
  std::size_t bytes;
  unsigned tries_on_free;
  bool next_owner_may_destroy;
  bool strictly_fifo;
  void (*construct)(void* lock);
  void (*destroy)(void* lock);
  void (*construct_holder)(void* holder, void* lock);
  void (*destroy_holder)(void* holder);
  void (*lock)(void* holder);
  bool (*try_lock)(void* holder);
  void (*unlock)(void* holder);
};

inline constexpr std::size_t max_lock_bytes = 128;
inline constexpr std::size_t max_holder_bytes = 128;

template <class Lock>
inline constexpr lock_kind kind_of = {
    promises<Lock>::name,
    sizeof(Lock),
    promises<Lock>::tries_on_free,
    promises<Lock>::next_owner_may_destroy,
    promises<Lock>::strictly_fifo,
    [](void* lock) { new (lock) Lock; },
    [](void* lock) { static_cast<Lock*>(lock)->~Lock(); },
    [](void* place, void* lock) { new (place) holder<Lock>(*static_cast<Lock*>(lock)); },
    [](void* place) { static_cast<holder<Lock>*>(place)->~holder<Lock>(); },
    [](void* place) { static_cast<holder<Lock>*>(place)->lock(); },
    [](void* place) { return static_cast<holder<Lock>*>(place)->try_lock(); },
    [](void* place) { static_cast<holder<Lock>*>(place)->unlock(); },
};

class any_lock {
 public:
  /// The kind of the locks that are made from now on.
  static inline const lock_kind* next_kind = nullptr;

  any_lock() { kind_->construct(bytes_); }
  ~any_lock() { kind_->destroy(bytes_); }
  any_lock(const any_lock&) = delete;
  any_lock& operator=(const any_lock&) = delete;
  /// The lock that this one stands for. Requires: it is of that type.
  template <class Lock>
  Lock& as() {
    return *static_cast<Lock*>(place());
  }
  void* place() { return bytes_; }
  const lock_kind& kind() const { return *kind_; }

 private:
  friend class holder<any_lock>;
  const lock_kind* kind_ = next_kind;
  alignas(64) std::byte bytes_[max_lock_bytes];
};

template <>
class holder<any_lock> {
 public:
  explicit holder(any_lock& lock) : kind_(*lock.kind_) { kind_.construct_holder(bytes_, lock.bytes_); }
  ~holder() { kind_.destroy_holder(bytes_); }
  holder(const holder&) = delete;
  holder& operator=(const holder&) = delete;
  void lock() { kind_.lock(bytes_); }
  bool try_lock() { return kind_.try_lock(bytes_); }
  void unlock() { kind_.unlock(bytes_); }
  unsigned tries_on_free() const { return kind_.tries_on_free; }

 private:
  const lock_kind& kind_;
  alignas(64) std::byte bytes_[max_holder_bytes];
};

/// As for a lock of its own type, with the promise of the kind.
inline bool try_free_lock(holder<any_lock>& hold) {
  for (unsigned i = 0; i < hold.tries_on_free(); ++i) {
    if (hold.try_lock()) return true;
  }
  return false;
}

}  // namespace conformance

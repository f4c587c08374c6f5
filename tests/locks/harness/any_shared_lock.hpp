// SPDX-License-Identifier: Apache-2.0
// Every reader-writer lock behind one type, as any_lock.hpp has the exclusive ones.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace conformance {

/// What any_shared_lock does with the lock it stands for.
struct shared_lock_kind {
  void (*construct)(void* lock);
  void (*destroy)(void* lock);
  void (*lock)(void* lock);
  bool (*try_lock)(void* lock);
  void (*unlock)(void* lock);
  void (*lock_shared)(void* lock);
  bool (*try_lock_shared)(void* lock);
  void (*unlock_shared)(void* lock);
};

class any_shared_lock {
 public:
  /// The kind of the locks that are made from now on.
  static inline const shared_lock_kind* next_kind = nullptr;
  static constexpr std::size_t max_bytes = 128;

  any_shared_lock() { kind_->construct(bytes_); }
  ~any_shared_lock() { kind_->destroy(bytes_); }
  any_shared_lock(const any_shared_lock&) = delete;
  any_shared_lock& operator=(const any_shared_lock&) = delete;
  void lock() { kind_->lock(bytes_); }
  bool try_lock() { return kind_->try_lock(bytes_); }
  void unlock() { kind_->unlock(bytes_); }
  void lock_shared() { kind_->lock_shared(bytes_); }
  bool try_lock_shared() { return kind_->try_lock_shared(bytes_); }
  void unlock_shared() { kind_->unlock_shared(bytes_); }
  /// The lock that this one stands for. Requires: it is of that type.
  template <class Lock>
  Lock& as() {
    return *static_cast<Lock*>(static_cast<void*>(bytes_));
  }

 private:
  const shared_lock_kind* kind_ = next_kind;
  alignas(64) std::byte bytes_[max_bytes];
};

template <class Lock>
struct shared_lock_functions {
  static_assert(sizeof(Lock) <= any_shared_lock::max_bytes);
  static Lock& at(void* place) { return *static_cast<Lock*>(place); }
};

template <class Lock, class F = shared_lock_functions<Lock>>
inline constexpr shared_lock_kind shared_kind_of = {
    [](void* place) { new (place) Lock; },
    [](void* place) { std::destroy_at(&F::at(place)); },
    [](void* place) { F::at(place).lock(); },
    [](void* place) { return F::at(place).try_lock(); },
    [](void* place) { F::at(place).unlock(); },
    [](void* place) { F::at(place).lock_shared(); },
    [](void* place) { return F::at(place).try_lock_shared(); },
    [](void* place) { F::at(place).unlock_shared(); },
};

}  // namespace conformance

// SPDX-License-Identifier: Apache-2.0
// The functions behind ours: those of the C library, for the objects that are left to it (robust, priority-inheriting,
// process-shared, or by policy).
#pragma once

#include <pthread.h>

#include <atomic>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

struct next_functions {
  decltype(&pthread_mutex_init) mutex_init;
  decltype(&pthread_mutex_destroy) mutex_destroy;
  decltype(&pthread_mutex_lock) mutex_lock;
  decltype(&pthread_mutex_trylock) mutex_trylock;
  decltype(&pthread_mutex_timedlock) mutex_timedlock;
  int (*mutex_clocklock)(pthread_mutex_t*, clockid_t, const timespec*);  // null before glibc 2.30
  decltype(&pthread_mutex_unlock) mutex_unlock;

  decltype(&pthread_rwlock_init) rwlock_init;
  decltype(&pthread_rwlock_destroy) rwlock_destroy;
  decltype(&pthread_rwlock_rdlock) rwlock_rdlock;
  decltype(&pthread_rwlock_tryrdlock) rwlock_tryrdlock;
  decltype(&pthread_rwlock_timedrdlock) rwlock_timedrdlock;
  int (*rwlock_clockrdlock)(pthread_rwlock_t*, clockid_t, const timespec*);
  decltype(&pthread_rwlock_wrlock) rwlock_wrlock;
  decltype(&pthread_rwlock_trywrlock) rwlock_trywrlock;
  decltype(&pthread_rwlock_timedwrlock) rwlock_timedwrlock;
  int (*rwlock_clockwrlock)(pthread_rwlock_t*, clockid_t, const timespec*);
  decltype(&pthread_rwlock_unlock) rwlock_unlock;

  decltype(&pthread_spin_init) spin_init;
  decltype(&pthread_spin_lock) spin_lock;
  decltype(&pthread_spin_trylock) spin_trylock;
  decltype(&pthread_spin_unlock) spin_unlock;

  decltype(&pthread_cond_init) cond_init;
  decltype(&pthread_cond_destroy) cond_destroy;
  decltype(&pthread_cond_wait) cond_wait;
  decltype(&pthread_cond_timedwait) cond_timedwait;
  int (*cond_clockwait)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);
  decltype(&pthread_cond_signal) cond_signal;
  decltype(&pthread_cond_broadcast) cond_broadcast;

  decltype(&pthread_barrier_init) barrier_init;
  decltype(&pthread_barrier_destroy) barrier_destroy;
  decltype(&pthread_barrier_wait) barrier_wait;
};

/// Null until the first call of next() has found them.
extern constinit std::atomic<const next_functions*> found_functions;
const next_functions& find_functions() noexcept;

/// Found at the first call, which may come before any constructor has run. Thread-safe.
inline const next_functions& next() noexcept {
  // acquire pairs with the release in find_functions()
  const next_functions* const functions = found_functions.load(std::memory_order_acquire);
  return functions != nullptr ? *functions : find_functions();
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

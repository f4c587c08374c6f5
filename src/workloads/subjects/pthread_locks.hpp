// SPDX-License-Identifier: Apache-2.0
// The C library's mutexes, as locks with lock() and unlock().
#pragma once

#include <pthread.h>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

/// A pthread mutex of one kind. Its errors are programming errors, which cannot happen here.
template <int Kind>
class pthread_lock {
 public:
  pthread_lock() noexcept {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, Kind);
    pthread_mutex_init(&mutex_, &kind);
    pthread_mutexattr_destroy(&kind);
  }
  pthread_lock(const pthread_lock&) = delete;
  pthread_lock& operator=(const pthread_lock&) = delete;
  ~pthread_lock() { pthread_mutex_destroy(&mutex_); }
  void lock() noexcept { pthread_mutex_lock(&mutex_); }
  void unlock() noexcept { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_;
};

using pthread_normal = pthread_lock<PTHREAD_MUTEX_TIMED_NP>;  // the default kind
using pthread_adaptive = pthread_lock<PTHREAD_MUTEX_ADAPTIVE_NP>;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

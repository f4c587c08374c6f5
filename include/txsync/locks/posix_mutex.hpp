// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND {

/// The system's mutex (pthread_mutex_t, default kind) in the shape of the other locks: the yardstick, and the lock of
/// the papers' POSIX curves. Fairness, cost, errors: the C library's. Lockable. Constant-initialised.
class posix_mutex {
 public:
  constexpr posix_mutex() noexcept = default;
  posix_mutex(const posix_mutex&) = delete;
  posix_mutex& operator=(const posix_mutex&) = delete;

  void lock() noexcept { pthread_mutex_lock(&mutex_); }
  [[nodiscard]] bool try_lock() noexcept { return pthread_mutex_trylock(&mutex_) == 0; }
  void unlock() noexcept { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

}  // namespace txsync::inline TXSYNC_BACKEND

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <cerrno>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::channel {

/// Around system calls that are cancellation points: a lock call must not end the thread, nor change errno.
class not_cancelled {
 public:
  not_cancelled() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state_); }
  not_cancelled(const not_cancelled&) = delete;
  not_cancelled& operator=(const not_cancelled&) = delete;
  ~not_cancelled() {
    pthread_setcancelstate(state_, nullptr);
    errno = errno_;
  }

 private:
  int errno_ = errno;
  int state_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::channel

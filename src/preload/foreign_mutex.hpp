// SPDX-License-Identifier: Apache-2.0
// Mutexes that are left to the C library. They are counted and checked for wrong use, as ours are. Of their bytes only
// the tag is ours.
#pragma once

#include <pthread.h>

#include <txsync_backend/name.hpp>

#include "mutex_state.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

/// As the functions of pthread. If the site's policy asks for warm-up, a waiter runs its critical section ahead before
/// it waits. In between it tries (always-abort paper, III-A, Fig 3). A waiter with a deadline does not.
/// Requires: the mutex has that tag, and is_left_to_libc(tag).
int lock_foreign(pthread_mutex_t* raw, lock_tag tag) noexcept;
int lock_foreign_until(pthread_mutex_t* raw, lock_tag tag, clockid_t clock, const timespec* time) noexcept;
int try_lock_foreign(pthread_mutex_t* raw, lock_tag tag) noexcept;
int unlock_foreign(pthread_mutex_t* raw, lock_tag tag) noexcept;
int destroy_foreign(pthread_mutex_t* raw, lock_tag tag) noexcept;

/// Before and after a wait on a condition of the C library, which gives the mutex up and takes it again.
void before_foreign_wait(pthread_mutex_t* raw, lock_tag tag) noexcept;
void after_foreign_wait(pthread_mutex_t* raw, lock_tag tag) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

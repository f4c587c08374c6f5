// SPDX-License-Identifier: Apache-2.0
// The names that programs linked before glibc 2.34 hold. On machines without them, today's.
#pragma once

#include <pthread.h>

namespace generated {

int old_mutex_init(pthread_mutex_t* mutex, const pthread_mutexattr_t* attributes);
int old_mutex_destroy(pthread_mutex_t* mutex);
int old_mutex_lock(pthread_mutex_t* mutex);
int old_mutex_trylock(pthread_mutex_t* mutex);
int old_mutex_unlock(pthread_mutex_t* mutex);
int old_rwlock_init(pthread_rwlock_t* rwlock, const pthread_rwlockattr_t* attributes);
int old_rwlock_destroy(pthread_rwlock_t* rwlock);
int old_rwlock_rdlock(pthread_rwlock_t* rwlock);
int old_rwlock_tryrdlock(pthread_rwlock_t* rwlock);
int old_rwlock_wrlock(pthread_rwlock_t* rwlock);
int old_rwlock_trywrlock(pthread_rwlock_t* rwlock);
int old_rwlock_unlock(pthread_rwlock_t* rwlock);

}  // namespace generated

// SPDX-License-Identifier: Apache-2.0
#include "old_names.hpp"

#if defined(__x86_64__)
#define TXSYNC_OLD "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define TXSYNC_OLD "GLIBC_2.17"
#endif

// An assembler directive alone gives a version to a name that is not ours.
#ifdef TXSYNC_OLD
#define TXSYNC_OLD_NAME(name, parameters, arguments)                            \
  extern "C" int txsync_test_old_##name parameters;                             \
  __asm__(".symver txsync_test_old_" #name ",__pthread_" #name "@" TXSYNC_OLD); \
  int old_##name parameters { return txsync_test_old_##name arguments; }
#else
#define TXSYNC_OLD_NAME(name, parameters, arguments) \
  int old_##name parameters { return pthread_##name arguments; }
#endif

namespace generated {

TXSYNC_OLD_NAME(mutex_init, (pthread_mutex_t * mutex, const pthread_mutexattr_t* attributes), (mutex, attributes))
TXSYNC_OLD_NAME(mutex_destroy, (pthread_mutex_t * mutex), (mutex))
TXSYNC_OLD_NAME(mutex_lock, (pthread_mutex_t * mutex), (mutex))
TXSYNC_OLD_NAME(mutex_trylock, (pthread_mutex_t * mutex), (mutex))
TXSYNC_OLD_NAME(mutex_unlock, (pthread_mutex_t * mutex), (mutex))
TXSYNC_OLD_NAME(rwlock_init, (pthread_rwlock_t * rwlock, const pthread_rwlockattr_t* attributes), (rwlock, attributes))
TXSYNC_OLD_NAME(rwlock_destroy, (pthread_rwlock_t * rwlock), (rwlock))
TXSYNC_OLD_NAME(rwlock_rdlock, (pthread_rwlock_t * rwlock), (rwlock))
TXSYNC_OLD_NAME(rwlock_tryrdlock, (pthread_rwlock_t * rwlock), (rwlock))
TXSYNC_OLD_NAME(rwlock_wrlock, (pthread_rwlock_t * rwlock), (rwlock))
TXSYNC_OLD_NAME(rwlock_trywrlock, (pthread_rwlock_t * rwlock), (rwlock))
TXSYNC_OLD_NAME(rwlock_unlock, (pthread_rwlock_t * rwlock), (rwlock))

}  // namespace generated

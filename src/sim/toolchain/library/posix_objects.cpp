// SPDX-License-Identifier: Apache-2.0
// libc's initialisation of locks, for src/preload, because only libc knows where it keeps the attributes. Instrumented
// code uses the objects afterwards.
#include <pthread.h>

#include "touch.hpp"

using namespace txsync::sim::library;

namespace {

template <typename Object, typename Initialise>
int announced(Object* object, Initialise with) {
  step();
  writes_object(object);
  return with();
}

}  // namespace

extern "C" {

int txsync_sim_libc_mutex_init(pthread_mutex_t* made, const pthread_mutexattr_t* how) {
  return announced(made, [&] { return pthread_mutex_init(made, how); });
}
int txsync_sim_libc_rwlock_init(pthread_rwlock_t* made, const pthread_rwlockattr_t* how) {
  return announced(made, [&] { return pthread_rwlock_init(made, how); });
}
int txsync_sim_libc_cond_init(pthread_cond_t* made, const pthread_condattr_t* how) {
  return announced(made, [&] { return pthread_cond_init(made, how); });
}
int txsync_sim_libc_barrier_init(pthread_barrier_t* made, const pthread_barrierattr_t* how, unsigned threads) {
  return announced(made, [&] { return pthread_barrier_init(made, how, threads); });
}
int txsync_sim_libc_spin_init(pthread_spinlock_t* made, int shared) {
  step();
  txsync_sim_writes(const_cast<int*>(made), sizeof *made);
  return pthread_spin_init(made, shared);
}

}  // extern "C"

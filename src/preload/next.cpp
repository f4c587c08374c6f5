// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include "found_once.hpp"
#include "next.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

namespace {

#if defined(__x86_64__)
// Before it the condition variable was another object; the plain name may find that one.
constexpr const char* condition_version = "GLIBC_2.3.2";
#elif defined(__aarch64__)
constexpr const char* condition_version = "GLIBC_2.17";
#endif

template <class Function>
void find(Function& out, const char* name) noexcept {
  out = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}
template <class Function>
void find_condition(Function& out, const char* name) noexcept {
  out = reinterpret_cast<Function>(dlvsym(RTLD_NEXT, name, condition_version));
  if (out == nullptr) find(out, name);
}

void find_all(next_functions& all) noexcept {
  find(all.mutex_init, "pthread_mutex_init");
  find(all.mutex_destroy, "pthread_mutex_destroy");
  find(all.mutex_lock, "pthread_mutex_lock");
  find(all.mutex_trylock, "pthread_mutex_trylock");
  find(all.mutex_timedlock, "pthread_mutex_timedlock");
  find(all.mutex_clocklock, "pthread_mutex_clocklock");
  find(all.mutex_unlock, "pthread_mutex_unlock");
  find(all.rwlock_init, "pthread_rwlock_init");
  find(all.rwlock_destroy, "pthread_rwlock_destroy");
  find(all.rwlock_rdlock, "pthread_rwlock_rdlock");
  find(all.rwlock_tryrdlock, "pthread_rwlock_tryrdlock");
  find(all.rwlock_timedrdlock, "pthread_rwlock_timedrdlock");
  find(all.rwlock_clockrdlock, "pthread_rwlock_clockrdlock");
  find(all.rwlock_wrlock, "pthread_rwlock_wrlock");
  find(all.rwlock_trywrlock, "pthread_rwlock_trywrlock");
  find(all.rwlock_timedwrlock, "pthread_rwlock_timedwrlock");
  find(all.rwlock_clockwrlock, "pthread_rwlock_clockwrlock");
  find(all.rwlock_unlock, "pthread_rwlock_unlock");
  find(all.spin_init, "pthread_spin_init");
  find(all.spin_lock, "pthread_spin_lock");
  find(all.spin_trylock, "pthread_spin_trylock");
  find(all.spin_unlock, "pthread_spin_unlock");
  find_condition(all.cond_init, "pthread_cond_init");
  find_condition(all.cond_destroy, "pthread_cond_destroy");
  find_condition(all.cond_wait, "pthread_cond_wait");
  find_condition(all.cond_timedwait, "pthread_cond_timedwait");
  find(all.cond_clockwait, "pthread_cond_clockwait");
  find_condition(all.cond_signal, "pthread_cond_signal");
  find_condition(all.cond_broadcast, "pthread_cond_broadcast");
  find(all.barrier_init, "pthread_barrier_init");
  find(all.barrier_destroy, "pthread_barrier_destroy");
  find(all.barrier_wait, "pthread_barrier_wait");
}

}  // namespace

const next_functions& next() noexcept { return found_once<next_functions, find_all>(); }

}  // namespace txsync::inline TXSYNC_BACKEND::preload

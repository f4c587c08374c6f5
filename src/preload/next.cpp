// SPDX-License-Identifier: Apache-2.0
#include "next.hpp"
#include "found_once.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

#if defined(__x86_64__)
// Before this version the condition variable was another object. The plain name may find that one.
constexpr const char* condition_version = "GLIBC_2.3.2";
#elif defined(__aarch64__)
constexpr const char* condition_version = "GLIBC_2.17";
#endif

void find_all(next_functions& all) noexcept {
  find_next(all.mutex_init, "pthread_mutex_init");
  find_next(all.mutex_destroy, "pthread_mutex_destroy");
  find_next(all.mutex_lock, "pthread_mutex_lock");
  find_next(all.mutex_trylock, "pthread_mutex_trylock");
  find_next(all.mutex_timedlock, "pthread_mutex_timedlock");
  find_next(all.mutex_clocklock, "pthread_mutex_clocklock");
  find_next(all.mutex_unlock, "pthread_mutex_unlock");
  find_next(all.rwlock_init, "pthread_rwlock_init");
  find_next(all.rwlock_destroy, "pthread_rwlock_destroy");
  find_next(all.rwlock_rdlock, "pthread_rwlock_rdlock");
  find_next(all.rwlock_tryrdlock, "pthread_rwlock_tryrdlock");
  find_next(all.rwlock_timedrdlock, "pthread_rwlock_timedrdlock");
  find_next(all.rwlock_clockrdlock, "pthread_rwlock_clockrdlock");
  find_next(all.rwlock_wrlock, "pthread_rwlock_wrlock");
  find_next(all.rwlock_trywrlock, "pthread_rwlock_trywrlock");
  find_next(all.rwlock_timedwrlock, "pthread_rwlock_timedwrlock");
  find_next(all.rwlock_clockwrlock, "pthread_rwlock_clockwrlock");
  find_next(all.rwlock_unlock, "pthread_rwlock_unlock");
  find_next(all.spin_init, "pthread_spin_init");
  find_next(all.spin_lock, "pthread_spin_lock");
  find_next(all.spin_trylock, "pthread_spin_trylock");
  find_next(all.spin_unlock, "pthread_spin_unlock");
  find_next(all.cond_init, "pthread_cond_init", condition_version);
  find_next(all.cond_destroy, "pthread_cond_destroy", condition_version);
  find_next(all.cond_wait, "pthread_cond_wait", condition_version);
  find_next(all.cond_timedwait, "pthread_cond_timedwait", condition_version);
  find_next(all.cond_clockwait, "pthread_cond_clockwait");
  find_next(all.cond_signal, "pthread_cond_signal", condition_version);
  find_next(all.cond_broadcast, "pthread_cond_broadcast", condition_version);
  find_next(all.barrier_init, "pthread_barrier_init");
  find_next(all.barrier_destroy, "pthread_barrier_destroy");
  find_next(all.barrier_wait, "pthread_barrier_wait");
}

}  // namespace

constinit std::atomic<const next_functions*> found_functions{nullptr};

[[gnu::cold]] const next_functions& find_functions() noexcept {
  const next_functions& functions = found_once<next_functions, find_all>();
  found_functions.store(&functions, std::memory_order_release);  // pairs with the acquire in next()
  return functions;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

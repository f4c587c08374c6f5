// SPDX-License-Identifier: Apache-2.0
// Says which locks a thread waits for, has taken and has given up. The linker puts these functions before pthread's
// (--wrap, txsync-cxx.sh): NAME here is __wrap_NAME for it, and real(NAME) is __real_NAME.
#include <pthread.h>
#include <sim/program.h>

#include <ctime>

namespace {
const void* at(const volatile void* lock) { return const_cast<const void*>(lock); }
}  // namespace

// clang-format off
#define TXSYNC_SIM_DECLARES(name, parameters)                                                            \
  extern "C" int real_##name parameters asm("__real_txsync_sim_pthread_" #name);                         \
  extern "C" int wrap_##name parameters asm("__wrap_txsync_sim_pthread_" #name);                         \
  int wrap_##name parameters
// A call with a deadline may sleep, and later return without the lock: it touches the lock at its step.
#define TXSYNC_SIM_TAKES(how, name, parameters, arguments)                                               \
  TXSYNC_SIM_DECLARES(name, parameters) {                                                                \
    txsync_sim_lock_asked(at(lock), how);                                                                \
    if (((how) & 2) != 0) {                                                                              \
      txsync_sim_step();                                                                                 \
      txsync_sim_lock_touched(at(lock), sizeof *lock);                                                   \
    }                                                                                                    \
    txsync_sim_lock_call_begins();                                                                       \
    const int status = real_##name arguments;                                                            \
    const int taken = ((how) & 2) != 0 ? 4 + ((how) & 1) : 2 - ((how) & 1);                              \
    txsync_sim_lock_call_ends(at(lock), sizeof *lock, status == 0 ? taken : 0);                          \
    return status;                                                                                       \
  }
#define TXSYNC_SIM_TRIES(shared, name, parameters, arguments)                                            \
  TXSYNC_SIM_DECLARES(name, parameters) {                                                                \
    txsync_sim_lock_call_begins();                                                                       \
    const int status = real_##name arguments;                                                            \
    txsync_sim_lock_call_ends(at(lock), sizeof *lock, status == 0 ? 4 + (shared) : 0);                   \
    return status;                                                                                       \
  }
#define TXSYNC_SIM_GIVES_UP(name, parameters, arguments)                                                 \
  TXSYNC_SIM_DECLARES(name, parameters) {                                                                \
    txsync_sim_lock_call_begins();                                                                       \
    const int status = real_##name arguments;                                                            \
    txsync_sim_lock_call_ends(at(lock), sizeof *lock, status == 0 ? 3 : 0);                              \
    return status;                                                                                       \
  }
// The step of the call comes before the lock counts as given up.
#define TXSYNC_SIM_WAITS(name, parameters, arguments)                                                    \
  TXSYNC_SIM_DECLARES(name, parameters) {                                                                \
    txsync_sim_step();                                                                                   \
    txsync_sim_wait_begins(condition, sizeof *condition, lock, sizeof *lock);                            \
    txsync_sim_lock_asked(lock, 4);                                                                      \
    const int status = real_##name arguments;                                                            \
    txsync_sim_lock_call_ends(lock, sizeof *lock, 2);                                                    \
    return status;                                                                                       \
  }
#define TXSYNC_SIM_NOTIFIES(all, name)                                                                   \
  TXSYNC_SIM_DECLARES(name, (pthread_cond_t * condition)) {                                              \
    txsync_sim_notifies(condition, all);                                                                 \
    return real_##name(condition);                                                                       \
  }
// clang-format on

TXSYNC_SIM_TAKES(0, mutex_lock, (pthread_mutex_t * lock), (lock))
TXSYNC_SIM_TRIES(0, mutex_trylock, (pthread_mutex_t * lock), (lock))
TXSYNC_SIM_TAKES(2, mutex_timedlock, (pthread_mutex_t * lock, const timespec* until), (lock, until))
TXSYNC_SIM_TAKES(2, mutex_clocklock, (pthread_mutex_t * lock, clockid_t clock, const timespec* until),
                 (lock, clock, until))
TXSYNC_SIM_GIVES_UP(mutex_unlock, (pthread_mutex_t * lock), (lock))

TXSYNC_SIM_TAKES(1, rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
TXSYNC_SIM_TRIES(1, rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock))
TXSYNC_SIM_TAKES(1 | 2, rwlock_timedrdlock, (pthread_rwlock_t * lock, const timespec* until), (lock, until))
TXSYNC_SIM_TAKES(1 | 2, rwlock_clockrdlock, (pthread_rwlock_t * lock, clockid_t clock, const timespec* until),
                 (lock, clock, until))
TXSYNC_SIM_TAKES(0, rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
TXSYNC_SIM_TRIES(0, rwlock_trywrlock, (pthread_rwlock_t * lock), (lock))
TXSYNC_SIM_TAKES(2, rwlock_timedwrlock, (pthread_rwlock_t * lock, const timespec* until), (lock, until))
TXSYNC_SIM_TAKES(2, rwlock_clockwrlock, (pthread_rwlock_t * lock, clockid_t clock, const timespec* until),
                 (lock, clock, until))
TXSYNC_SIM_GIVES_UP(rwlock_unlock, (pthread_rwlock_t * lock), (lock))

TXSYNC_SIM_TAKES(0, spin_lock, (pthread_spinlock_t * lock), (lock))
TXSYNC_SIM_TRIES(0, spin_trylock, (pthread_spinlock_t * lock), (lock))
TXSYNC_SIM_GIVES_UP(spin_unlock, (pthread_spinlock_t * lock), (lock))

TXSYNC_SIM_WAITS(cond_wait, (pthread_cond_t * condition, pthread_mutex_t* lock), (condition, lock))
TXSYNC_SIM_WAITS(cond_timedwait, (pthread_cond_t * condition, pthread_mutex_t* lock, const timespec* until),
                 (condition, lock, until))
TXSYNC_SIM_WAITS(cond_clockwait,
                 (pthread_cond_t * condition, pthread_mutex_t* lock, clockid_t clock, const timespec* until),
                 (condition, lock, clock, until))
TXSYNC_SIM_NOTIFIES(0, cond_signal)
TXSYNC_SIM_NOTIFIES(1, cond_broadcast)

// SPDX-License-Identifier: Apache-2.0
// mtx_* and cnd_* of C11. In the C library they call its own mutexes directly, so they have to be replaced as well. The
// types have the bytes of pthread's.
#include <pthread.h>

#include <cerrno>

// C++ cannot read <threads.h>, which defines thread_local.
extern "C" {
using mtx_t = pthread_mutex_t;
using cnd_t = pthread_cond_t;
}

#include "interpose.hpp"

namespace {

// As in glibc's <threads.h>.
enum : int { thrd_success = 0, thrd_busy = 1, thrd_error = 2, thrd_nomem = 3, thrd_timedout = 4 };
constexpr int mtx_recursive = 1;  // other bits have no meaning

int to_c11(int status) noexcept {
  switch (status) {
    case 0:
      return thrd_success;
    case EBUSY:
      return thrd_busy;
    case ENOMEM:
      return thrd_nomem;
    case ETIMEDOUT:
      return thrd_timedout;
    default:
      return thrd_error;
  }
}

}  // namespace

TXSYNC_INTERPOSE int mtx_init(mtx_t* mutex, int type) noexcept {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, (type & mtx_recursive) != 0 ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
  const int status = pthread_mutex_init(mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  return to_c11(status);
}
TXSYNC_INTERPOSE void mtx_destroy(mtx_t* mutex) noexcept { pthread_mutex_destroy(mutex); }
TXSYNC_INTERPOSE int mtx_lock(mtx_t* mutex) noexcept { return to_c11(pthread_mutex_lock(mutex)); }
TXSYNC_INTERPOSE int mtx_trylock(mtx_t* mutex) noexcept { return to_c11(pthread_mutex_trylock(mutex)); }
TXSYNC_INTERPOSE int mtx_timedlock(mtx_t* mutex, const timespec* time) noexcept {
  return to_c11(pthread_mutex_timedlock(mutex, time));
}
TXSYNC_INTERPOSE int mtx_unlock(mtx_t* mutex) noexcept { return to_c11(pthread_mutex_unlock(mutex)); }

TXSYNC_INTERPOSE int cnd_init(cnd_t* condition) noexcept { return to_c11(pthread_cond_init(condition, nullptr)); }
TXSYNC_INTERPOSE void cnd_destroy(cnd_t* condition) noexcept { pthread_cond_destroy(condition); }
TXSYNC_INTERPOSE int cnd_signal(cnd_t* condition) noexcept { return to_c11(pthread_cond_signal(condition)); }
TXSYNC_INTERPOSE int cnd_broadcast(cnd_t* condition) noexcept { return to_c11(pthread_cond_broadcast(condition)); }
TXSYNC_INTERPOSE int cnd_wait(cnd_t* condition, mtx_t* mutex) { return to_c11(pthread_cond_wait(condition, mutex)); }
TXSYNC_INTERPOSE int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* time) {
  return to_c11(pthread_cond_timedwait(condition, mutex, time));
}

TXSYNC_MOVED_IN_2_34(mtx_init, "GLIBC_2.28");
TXSYNC_MOVED_IN_2_34(mtx_destroy, "GLIBC_2.28");
TXSYNC_MOVED_IN_2_34(mtx_lock, "GLIBC_2.28");
TXSYNC_MOVED_IN_2_34(mtx_trylock, "GLIBC_2.28");
TXSYNC_MOVED_IN_2_34(mtx_timedlock, "GLIBC_2.28");
TXSYNC_MOVED_IN_2_34(mtx_unlock, "GLIBC_2.28");
TXSYNC_MOVED_IN_2_34(cnd_init, "GLIBC_2.28");
TXSYNC_MOVED_IN_2_34(cnd_destroy, "GLIBC_2.28");
TXSYNC_MOVED_IN_2_34(cnd_signal, "GLIBC_2.28");
TXSYNC_MOVED_IN_2_34(cnd_broadcast, "GLIBC_2.28");
TXSYNC_MOVED_IN_2_34(cnd_wait, "GLIBC_2.28");
TXSYNC_MOVED_IN_2_34(cnd_timedwait, "GLIBC_2.28");

/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, mutexes and conditions of C11, which C++ cannot name. */
#ifndef TXSYNC_TEST_GENERATED_C11_H
#define TXSYNC_TEST_GENERATED_C11_H

#ifdef __cplusplus
extern "C" {
#endif

struct c11_asked {
  int recursive;
  int attempts; /* mtx_trylock */
  int timed;    /* mtx_timedlock, cnd_timedwait */
  int signal;   /* one waiter is told, or all */
  int rounds;
};

/* Counts `rounds` three times, and says what went wrong, or nothing. */
const char* run_c11(const struct c11_asked* asked, long* counted);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "c11.h"

#include <stddef.h>
#include <threads.h>
#include <time.h>

struct shared {
  const struct c11_asked* asked;
  mtx_t mutex;
  cnd_t condition;
  int tokens;
  long counted;
  const char* wrong;
};

static struct timespec after_ms(long ms) {
  struct timespec time;
  timespec_get(&time, TIME_UTC);
  time.tv_sec += ms / 1000;
  time.tv_nsec += ms % 1000 * 1000000;
  if (time.tv_nsec >= 1000000000) {
    ++time.tv_sec;
    time.tv_nsec -= 1000000000;
  }
  return time;
}

static void check(struct shared* at, const char* what, int is_so) {
  if (!is_so) at->wrong = what;
}

static void take(struct shared* at) {
  int answer;
  const struct timespec until = after_ms(30000);
  if (at->asked->attempts)
    while ((answer = mtx_trylock(&at->mutex)) == thrd_busy) thrd_yield();
  else if (at->asked->timed)
    answer = mtx_timedlock(&at->mutex, &until);
  else
    answer = mtx_lock(&at->mutex);
  check(at, "a mutex of C11 is taken", answer == thrd_success);
}

static void release(struct shared* at) {
  check(at, "a mutex of C11 is released", mtx_unlock(&at->mutex) == thrd_success);
}

static void signal_waiters(struct shared* at) {
  const int answer = at->asked->signal ? cnd_signal(&at->condition) : cnd_broadcast(&at->condition);
  check(at, "a waiter of C11 is told", answer == thrd_success);
}

static void wait(struct shared* at) {
  const struct timespec until = after_ms(30000);
  const int answer =
      at->asked->timed ? cnd_timedwait(&at->condition, &at->mutex, &until) : cnd_wait(&at->condition, &at->mutex);
  check(at, "a wait of C11 ends", answer == thrd_success);
}

static int count(void* argument) {
  struct shared* const at = argument;
  for (int i = 0; i < at->asked->rounds; ++i) {
    take(at);
    if (at->asked->recursive) take(at);
    const long before = at->counted;
    if (i % 8 == 3) thrd_yield();
    at->counted = before + 1;
    if (at->asked->recursive) release(at);
    release(at);
  }
  return 11;
}

/* One token at a time: never do both wait, so that one signal is enough. */
static int make_tokens(void* argument) {
  struct shared* const at = argument;
  for (int i = 0; i < at->asked->rounds; ++i) {
    take(at);
    while (at->tokens != 0) wait(at);
    at->tokens = 1;
    signal_waiters(at);
    release(at);
  }
  return 11;
}

static int take_tokens(void* argument) {
  struct shared* const at = argument;
  for (int i = 0; i < at->asked->rounds; ++i) {
    take(at);
    while (at->tokens == 0) wait(at);
    at->tokens = 0;
    ++at->counted;
    signal_waiters(at);
    release(at);
  }
  return 11;
}

static int miss_a_deadline(void* argument) {
  struct shared* const at = argument;
  const struct timespec until = after_ms(1);
  return at->asked->timed ? mtx_timedlock(&at->mutex, &until) == thrd_timedout : mtx_trylock(&at->mutex) == thrd_busy;
}

static int result_of(thrd_t thread) {
  int result = -1;
  return thrd_join(thread, &result) == thrd_success ? result : -1;
}

static void run_two(struct shared* at, thrd_start_t one, thrd_start_t other) {
  thrd_t first, second;
  check(at, "a thread of C11 starts", thrd_create(&first, one, at) == thrd_success);
  check(at, "a thread of C11 starts", thrd_create(&second, other, at) == thrd_success);
  check(at, "a thread of C11 returns what it is to", result_of(first) == 11);
  check(at, "a thread of C11 returns what it is to", result_of(second) == 11);
}

const char* run_c11(const struct c11_asked* asked, long* counted) {
  struct shared at = {.asked = asked};
  const int type = (asked->recursive ? mtx_recursive : mtx_plain) | (asked->timed ? mtx_timed : mtx_plain);
  check(&at, "a mutex of C11 is made", mtx_init(&at.mutex, type) == thrd_success);
  check(&at, "a condition of C11 is made", cnd_init(&at.condition) == thrd_success);
  run_two(&at, count, count);
  run_two(&at, make_tokens, take_tokens);
  take(&at);
  thrd_t late;
  check(&at, "a thread of C11 starts", thrd_create(&late, miss_a_deadline, &at) == thrd_success);
  check(&at, "a mutex of C11 is not got", result_of(late) == 1);
  const struct timespec until = after_ms(1);
  int answer = thrd_success;
  while (answer == thrd_success) answer = cnd_timedwait(&at.condition, &at.mutex, &until);
  check(&at, "a wait of C11 for nothing", answer == thrd_timedout);
  release(&at);
  cnd_destroy(&at.condition);
  mtx_destroy(&at.mutex);
  *counted += at.counted;
  return at.wrong;
}

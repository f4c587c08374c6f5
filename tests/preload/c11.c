/* SPDX-License-Identifier: Apache-2.0 */
/* mtx_t and cnd_t in a program in C. */
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define CHECK(what)                                                      \
  do {                                                                   \
    if (!(what)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
      exit(1);                                                           \
    }                                                                    \
  } while (0)

static mtx_t plain;
static cnd_t condition;
static long counter;
static int tokens;

static int count(void* unused) {
  (void)unused;
  for (int i = 0; i < 20000; ++i) {
    if (i % 4 == 0) {
      while (mtx_trylock(&plain) != thrd_success) thrd_yield();
    } else {
      mtx_lock(&plain);
    }
    counter = counter + 1;
    mtx_unlock(&plain);
  }
  return 0;
}

static int take(void* unused) {
  (void)unused;
  mtx_lock(&plain);
  while (tokens == 0) cnd_wait(&condition, &plain);
  --tokens;
  mtx_unlock(&plain);
  return 0;
}

static int try_it(void* mutex) { return mtx_trylock((mtx_t*)mutex); }

static int time_out(void* mutex) {
  struct timespec soon;
  timespec_get(&soon, TIME_UTC);
  soon.tv_nsec += 20000000;
  if (soon.tv_nsec >= 1000000000) {
    ++soon.tv_sec;
    soon.tv_nsec -= 1000000000;
  }
  return mtx_timedlock((mtx_t*)mutex, &soon);
}

static int on_thread(thrd_start_t function, void* argument) {
  thrd_t thread;
  int result = -1;
  CHECK(thrd_create(&thread, function, argument) == thrd_success);
  CHECK(thrd_join(thread, &result) == thrd_success);
  return result;
}

static void kinds(void) {
  mtx_t recursive, timed;
  CHECK(mtx_init(&recursive, mtx_plain | mtx_recursive) == thrd_success);
  CHECK(mtx_init(&timed, mtx_timed | 64) == thrd_success);  // glibc takes unknown bits
  CHECK(mtx_lock(&recursive) == thrd_success);
  CHECK(mtx_lock(&recursive) == thrd_success);
  CHECK(mtx_trylock(&recursive) == thrd_success);
  CHECK(on_thread(try_it, &recursive) == thrd_busy);
  for (int i = 0; i < 3; ++i) CHECK(mtx_unlock(&recursive) == thrd_success);
  CHECK(on_thread(try_it, &recursive) == thrd_success);
  CHECK(mtx_lock(&timed) == thrd_success);
  CHECK(on_thread(time_out, &timed) == thrd_timedout);
  CHECK(mtx_unlock(&timed) == thrd_success);
  mtx_destroy(&timed);
}

int main(void) {
  thrd_t threads[4];
  alarm(50);
  kinds();
  CHECK(mtx_init(&plain, mtx_plain) == thrd_success);
  CHECK(cnd_init(&condition) == thrd_success);
  for (int i = 0; i < 4; ++i) CHECK(thrd_create(&threads[i], count, NULL) == thrd_success);
  for (int i = 0; i < 4; ++i) CHECK(thrd_join(threads[i], NULL) == thrd_success);
  CHECK(counter == 80000);

  for (int i = 0; i < 4; ++i) CHECK(thrd_create(&threads[i], take, NULL) == thrd_success);
  for (int i = 0; i < 2; ++i) {
    mtx_lock(&plain);
    ++tokens;
    CHECK(cnd_signal(&condition) == thrd_success);
    mtx_unlock(&plain);
  }
  mtx_lock(&plain);
  tokens += 2;
  CHECK(cnd_broadcast(&condition) == thrd_success);
  mtx_unlock(&plain);
  for (int i = 0; i < 4; ++i) CHECK(thrd_join(threads[i], NULL) == thrd_success);
  CHECK(tokens == 0);

  struct timespec past = {1, 0};
  mtx_lock(&plain);
  CHECK(cnd_timedwait(&condition, &plain, &past) == thrd_timedout);
  CHECK(on_thread(try_it, &plain) == thrd_busy);
  mtx_unlock(&plain);
  cnd_destroy(&condition);
  mtx_destroy(&plain);
  puts("ok");
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// A library of reported.c, built twice: START is the name of the function that makes the lock.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t* mutex;

static void* wait_in_turn(void* unused) {
  for (int i = 0; i < 5; ++i) {
    pthread_mutex_lock(mutex);
    usleep(500);
    pthread_mutex_unlock(mutex);
  }
  return unused;
}

__attribute__((noinline)) static void START(void) {
  pthread_t other;
  mutex = malloc(sizeof *mutex);
  pthread_mutex_init(mutex, 0);
  pthread_create(&other, 0, wait_in_turn, 0);
  wait_in_turn(0);
  pthread_join(other, 0);
  pthread_mutex_destroy(mutex);
  free(mutex);
}

void use(void) { START(); }

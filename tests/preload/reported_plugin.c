// SPDX-License-Identifier: Apache-2.0
// A library of reported_calls.c, built twice. START is the name of the function that makes locks, one after the other.
// Another lock is in static storage.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t* mutex;
static pthread_mutex_t stationary = PTHREAD_MUTEX_INITIALIZER;

static void wait_for(pthread_mutex_t* lock) {
  for (int i = 0; i < 2; ++i) {
    pthread_mutex_lock(lock);
    usleep(300);
    pthread_mutex_unlock(lock);
  }
}

static void* wait_in_turn(void* unused) {
  wait_for(mutex);
  wait_for(&stationary);
  return unused;
}

__attribute__((noinline)) static void START(void) {
  for (int i = 0; i < 4; ++i) {
    pthread_t other;
    mutex = malloc(sizeof *mutex);
    pthread_mutex_init(mutex, 0);
    pthread_create(&other, 0, wait_in_turn, 0);
    wait_in_turn(0);
    pthread_join(other, 0);
    pthread_mutex_destroy(mutex);
    free(mutex);
  }
}

void use(void) { START(); }

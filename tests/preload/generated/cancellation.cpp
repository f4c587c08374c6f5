// SPDX-License-Identifier: Apache-2.0
// Deferred cancellation (POSIX, System Interfaces 2.9.5): a thread ends at a cancellation point, its cleanup handlers
// run, and it ends nowhere else. To lock a mutex and to wait at a barrier are no such points.
#include <sched.h>

#include <cerrno>
#include <ctime>

#include "state.hpp"

namespace generated {
namespace {

struct scene {
  const place& here;
  int threads;
  pthread_mutex_t mutex{};
  pthread_cond_t condition{};
  pthread_barrier_t barrier{};
  pthread_t other{};
  volatile long guarded = 0;
  std::atomic<long> known = 0;
  std::atomic<int> come = 0;
  std::atomic<int> passed = 0;
  std::atomic<bool> go = false;
};

void give_up(void* argument) {
  scene& all = *static_cast<scene*>(argument);
  release(all.here, all.mutex, all.here.now().by);
}

void count(scene& all) {
  const long before = all.guarded;
  if (before % 8 == 3) sched_yield();
  all.guarded = before + 1;
  ++all.known;
}

void* lock_again_and_again(void* argument) {
  scene& all = *static_cast<scene*>(argument);
  ++all.come;
  for (;;) {
    take(all.here, all.mutex, all.here.now().by);
    pthread_cleanup_push(give_up, argument);
    count(all);
    if (all.guarded % 2 == 0) pthread_testcancel();
    pthread_cleanup_pop(1);
    pthread_testcancel();
  }
}

void* wait_for_go(void* argument) {
  while (!static_cast<scene*>(argument)->go) sched_yield();
  return argument;
}

/// The thread that is waited for can be waited for again.
void* join_another(void* argument) {
  scene& all = *static_cast<scene*>(argument);
  take(all.here, all.mutex, all.here.now().by);
  pthread_cleanup_push(give_up, argument);
  ++all.come;
  pthread_join(all.other, nullptr);
  ++all.passed;
  pthread_cleanup_pop(1);
  return nullptr;
}

void* wait_at_barrier(void* argument) {
  scene& all = *static_cast<scene*>(argument);
  ++all.come;
  pthread_barrier_wait(&all.barrier);
  ++all.passed;
  pthread_testcancel();
  return nullptr;
}

void* wait_uncancelled(void* argument) {
  scene& all = *static_cast<scene*>(argument);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  take(all.here, all.mutex, all.here.now().by);
  pthread_cleanup_push(give_up, argument);
  ++all.come;
  while (!all.go)
    check(all.here, "a wait that is not to be cancelled", pthread_cond_wait(&all.condition, &all.mutex), 0);
  ++all.passed;
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
  pthread_testcancel();
  pthread_cleanup_pop(1);
  return nullptr;
}

void* lock_once(void* argument) {
  scene& all = *static_cast<scene*>(argument);
  ++all.come;
  take(all.here, all.mutex, all.here.now().by);
  pthread_cleanup_push(give_up, argument);
  ++all.passed;
  count(all);
  pthread_testcancel();
  pthread_cleanup_pop(1);
  return nullptr;
}

void* wait_by_a_clock(void* argument) {
  scene& all = *static_cast<scene*>(argument);
  take(all.here, all.mutex, all.here.now().by);
  pthread_cleanup_push(give_up, argument);
  ++all.come;
  for (int wait = 0;; ++wait) {
    const clockid_t clock = wait % 2 == 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    const timespec until = after_ms(clock, wait < 2 ? 1 : patient_ms);
    pthread_cond_clockwait(&all.condition, &all.mutex, clock, &until);
  }
  pthread_cleanup_pop(0);
  return nullptr;
}

struct kind {
  void* (*body)(void*);
  bool at_once;  ///< cancelled where it waits; else it goes on, and is cancelled later
};
constexpr kind kinds[] = {{lock_again_and_again, true}, {join_another, true}, {wait_at_barrier, false},
                          {wait_uncancelled, false},    {lock_once, false},   {wait_by_a_clock, true}};

bool is(const kind& one, void* (*body)(void*)) { return one.body == body; }

/// Lets those go on whom nobody could cancel.
void let_go(scene& all, const kind& one) {
  if (is(one, wait_at_barrier)) pthread_barrier_wait(&all.barrier);
  if (is(one, lock_once)) release(all.here, all.mutex, all.here.now().by);
  if (!is(one, wait_uncancelled)) return;
  take(all.here, all.mutex, all.here.now().by);
  all.go = true;
  check(all.here, "waiters are told", pthread_cond_broadcast(&all.condition), 0);
  release(all.here, all.mutex, all.here.now().by);
}

void cancel_all(scene& all, const kind& one, const std::vector<pthread_t>& threads) {
  const place& here = all.here;
  for (const pthread_t thread : threads) check(here, "a thread is cancelled", pthread_cancel(thread), 0);
  if (!one.at_once) {
    for (int i = 0; i < 20; ++i) sched_yield();
    for (const pthread_t thread : threads)
      check(here, "a thread is not cancelled yet", pthread_tryjoin_np(thread, nullptr), EBUSY);
    let_go(all, one);
  }
  for (const pthread_t thread : threads)
    check(here, "a thread was cancelled", join_thread(here, thread) == PTHREAD_CANCELED, 1);
  check(here, "threads that pass what cannot be cancelled", all.passed, one.at_once ? 0 : all.threads);
}

void cancel_threads_of(scene& all, const kind& one) {
  const place& here = all.here;
  std::vector<pthread_t> threads;
  all.come = all.passed = 0;
  all.go = false;
  if (is(one, join_another)) all.other = start_thread(here, wait_for_go, &all);
  if (is(one, lock_once)) take(here, all.mutex, here.now().by);
  // Several may not wait for one thread.
  const int count = is(one, join_another) ? 1 : all.threads;
  for (int i = 0; i < count; ++i) threads.push_back(start_thread(here, one.body, &all));
  while (all.come < count) sched_yield();
  for (int i = 0; i < 5; ++i) sched_yield();
  cancel_all(all, one, threads);
  all.go = true;
  if (is(one, join_another))
    check(here, "a thread whose joiner was cancelled is joined", join_thread(here, all.other) == &all, 1);
  take(here, all.mutex, how::timed);
  check(here, "counted by threads that were cancelled", static_cast<int>(all.guarded), static_cast<int>(all.known));
  release(here, all.mutex, how::timed);
}

}  // namespace

void cancel_at_points(const place& here) {
  const operation& asked = here.now();
  scene all{here, 1 + static_cast<int>(asked.objects / 4)};
  make(all.mutex, {static_cast<mutex_kind>(asked.objects % 4), false, asked.signal && here.made.processes > 1});
  pthread_cond_init(&all.condition, nullptr);
  pthread_barrier_init(&all.barrier, nullptr, static_cast<unsigned>(all.threads) + 1);
  for (int i = 0; i < asked.times; ++i) {
    cancel_threads_of(all, kinds[(asked.objects + static_cast<unsigned>(i)) % std::size(kinds)]);
    ++here.shared.counted.operation[here.number];
  }
  check(here, "a barrier is destroyed", pthread_barrier_destroy(&all.barrier), 0);
  check(here, "a condition is destroyed", pthread_cond_destroy(&all.condition), 0);
  check(here, "a mutex is destroyed", pthread_mutex_destroy(&all.mutex), 0);
}

}  // namespace generated

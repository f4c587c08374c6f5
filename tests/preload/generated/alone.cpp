// SPDX-License-Identifier: Apache-2.0
// What one thread of a generated program does, with threads and processes that it starts.
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "c11.h"
#include "state.hpp"

namespace generated {
namespace {

pthread_mutex_t& first_mutex(const place& here, mutex_kind& kind) {
  const int which = __builtin_ctz(here.now().objects);
  kind = here.made.mutex[which].kind;
  return here.shared.mutex[which];
}

void ask(const place& here) {
  mutex_kind kind{};
  pthread_mutex_t& mutex = first_mutex(here, kind);
  const bool knows_owner = kind == mutex_kind::recursive || kind == mutex_kind::error_checking;
  for (int i = 0; i < here.now().times; ++i) {
    if (knows_owner) check(here, "a stranger releases", pthread_mutex_unlock(&mutex), EPERM);
    take(here, mutex, here.now().by);
    const int answer = pthread_mutex_trylock(&mutex);
    check(here, "the holder attempts", answer, kind == mutex_kind::recursive ? 0 : EBUSY);
    if (answer == 0) release(here, mutex, here.now().by);
    if (kind == mutex_kind::error_checking) check(here, "the holder locks", pthread_mutex_lock(&mutex), EDEADLK);
    release(here, mutex, here.now().by);
    if (knows_owner) check(here, "one who has released releases", pthread_mutex_unlock(&mutex), EPERM);
  }
}

void let_expire(const place& here) {
  mutex_kind kind{};
  pthread_mutex_t& mutex = first_mutex(here, kind);
  const int want = kind == mutex_kind::recursive ? 0 : kind == mutex_kind::error_checking ? EDEADLK : ETIMEDOUT;
  take(here, mutex, here.now().by);
  timespec until = after_ms(here.now().signal ? CLOCK_MONOTONIC : CLOCK_REALTIME, 1);
  const int answer = here.now().signal ? pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until)
                                       : pthread_mutex_timedlock(&mutex, &until);
  check(here, "the holder locks with a deadline", answer, want);
  if (answer == 0) release(here, mutex, here.now().by);
  release(here, mutex, here.now().by);
  slot& own = here.own();
  take(here, own.mutex, how::lock);
  until = after_ms(CLOCK_MONOTONIC, 1);
  int ended = 0;
  while (ended == 0) ended = pthread_cond_timedwait(&own.condition[0], &own.mutex, &until);
  check(here, "a wait for nothing", ended, ETIMEDOUT);
  release(here, own.mutex, how::lock);
}

/// `ready` says how many wait or will; the mutex is held again when a cleanup handler runs.
void* wait_for_ever(void* argument) {
  const place& here = *static_cast<place*>(argument);
  slot& own = here.own();
  take(here, own.mutex, how::lock);
  ++own.ready;
  pthread_cleanup_push(
      [](void* again) {
        const place& there = *static_cast<place*>(again);
        ++there.shared.counted.operation[there.number];
        release(there, there.own().mutex, how::lock);
      },
      argument);
  if (here.now().signal)
    for (;;) pthread_cond_wait(&own.condition[0], &own.mutex);
  for (;;) {
    timespec until = after_ms(CLOCK_MONOTONIC, 30'000);
    pthread_cond_timedwait(&own.condition[0], &own.mutex, &until);
  }
  pthread_cleanup_pop(0);
  return nullptr;
}

void cancel_waiters(const place& here) {
  pthread_t waiters[8];
  place copy = here;
  const int count = here.now().times;
  for (int i = 0; i < count; ++i)
    check(here, "a thread starts", pthread_create(&waiters[i], nullptr, wait_for_ever, &copy), 0);
  for (bool all = false; !all && here.now().by != how::attempt;) {  // otherwise some are cancelled before they wait
    take(here, here.own().mutex, how::lock);
    all = here.own().ready == count;
    release(here, here.own().mutex, how::lock);
  }
  for (int i = 0; i < count; ++i) pthread_cancel(waiters[i]);
  for (int i = 0; i < count; ++i) {
    void* result = nullptr;
    check(here, "a thread is joined", pthread_join(waiters[i], &result), 0);
    check(here, "a thread was cancelled", result == PTHREAD_CANCELED, 1);
  }
}

void fork_and_count(const place& here) {
  const pid_t child = fork();
  if (child == 0) {
    count_under_mutexes(here);
    _exit(0);
  }
  check(here, "a child's status", status_of(child), 0);
}

void start_threads(const place& here) {
  pthread_t started[2];
  place copy = here;
  for (pthread_t& one : started)
    check(here, "a thread starts",
          pthread_create(
              &one, nullptr,
              [](void* argument) -> void* {
                count_under_mutexes(*static_cast<place*>(argument));
                return argument;
              },
              &copy),
          0);
  for (const pthread_t one : started) check(here, "a thread is joined", pthread_join(one, nullptr), 0);
}

void use_c11(const place& here) {
  const operation& one = here.now();
  const c11_asked asked{static_cast<int>(one.objects & 1), one.by == how::attempt || one.by == how::old_attempt,
                        one.by == how::timed || one.by == how::clock || one.by == how::poll, one.signal,
                        c11_rounds * one.times};
  const char* const wrong = run_c11(&asked, &here.shared.counted.operation[here.number]);
  if (wrong != nullptr) fail(here, wrong, 0, 1);
}

}  // namespace

void run_alone(const place& here) {
  switch (here.now().what) {
    case deed::answers:
      return ask(here);
    case deed::expire:
      return let_expire(here);
    case deed::cancel:
      return cancel_waiters(here);
    case deed::plugin:
      return open_plugin(here);
    case deed::fork_inside:
      return fork_and_count(here);
    case deed::rw_expire:
      return let_rwlock_expire(here);
    case deed::executed:
    case deed::replaced:
      return execute(here);
    case deed::c11:
      return use_c11(here);
    case deed::renewed:
      return renew(here);
    case deed::robust:
      return lose_owners(here);
    case deed::inherits:
      return inherit_priority(here);
    case deed::clocks:
      return wait_by_clocks(here);
    case deed::rw_holders:
      return ask_holders(here);
    case deed::atfork:
      return fork_with_handlers(here);
    case deed::cancel_points:
      return cancel_at_points(here);
    case deed::plugins:
      return open_plugins_in_turn(here);
    case deed::switched:
      return switch_coroutines(here);
    default:
      return start_threads(here);
  }
}

}  // namespace generated

// SPDX-License-Identifier: Apache-2.0
// Conditions whose deadlines are of either clock. A condition with default attributes takes CLOCK_REALTIME; a wait may
// name another clock than its condition's.
#include <cerrno>
#include <ctime>

#include "state.hpp"

namespace generated {
namespace {

/// One operation's, private to its process, or as if others used it.
struct exchange {
  const place& here;
  clockid_t clock;  ///< of the conditions
  pthread_mutex_t mutex{};
  pthread_cond_t changed[2]{};
  long ready = 0;
  std::atomic<int> next = 0;  ///< threads have come: makers and takers in turns
};

void make_conditions(exchange& all, bool shared) {
  static const pthread_cond_t initial = PTHREAD_COND_INITIALIZER;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  if (all.clock != CLOCK_REALTIME) pthread_condattr_setclock(&attributes, all.clock);
  if (shared) pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  const bool by_default = all.clock == CLOCK_REALTIME && !shared;
  for (pthread_cond_t& one : all.changed) {
    one = initial;
    if (!by_default || all.here.now().signal)
      check(all.here, "a condition is made", pthread_cond_init(&one, by_default ? nullptr : &attributes), 0);
  }
  pthread_condattr_destroy(&attributes);
}

bool has_passed(clockid_t clock, const timespec& until) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec > until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec >= until.tv_nsec);
}

constexpr int kinds_of_waits = 4;

/// By a deadline. The third kind of wait has none.
int wait_until(exchange& all, pthread_cond_t& condition, int kind, const timespec& until) {
  if (kind == 0) return pthread_cond_timedwait(&condition, &all.mutex, &until);
  return pthread_cond_clockwait(&condition, &all.mutex, kind == 1 ? CLOCK_MONOTONIC : CLOCK_REALTIME, &until);
}

clockid_t clock_of(const exchange& all, int kind) {
  return kind == 0 ? all.clock : kind == 1 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

void wait_once(exchange& all, pthread_cond_t& condition, int number) {
  const int kind = number % kinds_of_waits;
  if (kind == kinds_of_waits - 1) {
    check(all.here, "a wait without a deadline ends", pthread_cond_wait(&condition, &all.mutex), 0);
    return;
  }
  const bool may_pass = number / kinds_of_waits % 2 != 0;
  const timespec until = after_ms(clock_of(all, kind), may_pass ? 1 : patient_ms);
  const int answer = wait_until(all, condition, kind, until);
  if (may_pass && answer == ETIMEDOUT)
    check(all.here, "a deadline has passed where a wait says so", has_passed(clock_of(all, kind), until), 1);
  else
    check(all.here, "a wait ends", answer, 0);
}

/// Two tokens at most. One condition for all where all are told, else one for each side.
void* pass_tokens(void* argument) {
  exchange& all = *static_cast<exchange*>(argument);
  const operation& asked = all.here.now();
  const int number = all.next++;
  const bool makes = number % 2 == 0;
  for (int i = 0; i < asked.times; ++i) {
    take(all.here, all.mutex, asked.by);
    for (int waits = number + i; makes ? all.ready == 2 : all.ready == 0; ++waits)
      wait_once(all, all.changed[asked.signal && makes], waits);
    all.ready += makes ? 1 : -1;
    if (!makes) ++all.here.shared.counted.operation[all.here.number];
    check(all.here, "waiters are told",
          asked.signal ? pthread_cond_signal(&all.changed[!makes]) : pthread_cond_broadcast(&all.changed[0]), 0);
    release(all.here, all.mutex, asked.by);
  }
  return nullptr;
}

/// What a wait answers at once, and to a wait for nothing. The mutex is held after each.
void ask(exchange& all) {
  pthread_cond_t& never = all.changed[1];
  take(all.here, all.mutex, how::lock);
  for (int kind = 0; kind + 1 < kinds_of_waits; ++kind) {
    const clockid_t clock = clock_of(all, kind);
    timespec until = after_ms(clock, -1000);
    check(all.here, "a deadline of the past", wait_until(all, never, kind, until), ETIMEDOUT);
    until = after_ms(clock, 1);
    int ended = 0;
    while (ended == 0) ended = wait_until(all, never, kind, until);
    check(all.here, "a wait for nothing", ended, ETIMEDOUT);
    check(all.here, "the deadline of a wait for nothing has passed", has_passed(clock, until), 1);
    until.tv_nsec = 1'000'000'000;
    check(all.here, "a deadline that is no time", wait_until(all, never, kind, until), EINVAL);
  }
  const timespec until = after_ms(CLOCK_REALTIME, -1000);
  check(all.here, "a clock that no wait can have",
        pthread_cond_clockwait(&never, &all.mutex, CLOCK_PROCESS_CPUTIME_ID, &until), EINVAL);
  release(all.here, all.mutex, how::lock);
}

}  // namespace

void wait_by_clocks(const place& here) {
  const operation& asked = here.now();
  exchange all{here, (asked.objects & 4) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME};
  const bool shared = (asked.objects & 8) != 0 && here.made.processes > 1;
  make(all.mutex, {static_cast<mutex_kind>(asked.objects % 4), false, shared});
  make_conditions(all, shared);
  ask(all);
  std::vector<pthread_t> threads;
  for (int i = 0; i < 2 * clocks_pairs(asked); ++i) threads.push_back(start_thread(here, pass_tokens, &all));
  for (const pthread_t thread : threads) join_thread(here, thread);
  for (pthread_cond_t& one : all.changed) check(here, "a condition is destroyed", pthread_cond_destroy(&one), 0);
  check(here, "a mutex is destroyed", pthread_mutex_destroy(&all.mutex), 0);
}

}  // namespace generated

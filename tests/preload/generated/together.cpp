// SPDX-License-Identifier: Apache-2.0
// What several threads of a generated program do together.
#include <sched.h>
#include <sys/mman.h>

#include <cerrno>
#include <ctime>

#include "state.hpp"

namespace generated {
namespace {

void spin(const place& here) {
  const auto which = here.now().objects % spins;
  pthread_spinlock_t& lock = here.shared.spin[which];
  for (int i = 0; i < here.now().times; ++i) {
    if (here.now().signal)
      while (pthread_spin_trylock(&lock) == EBUSY) sched_yield();
    else
      check(here, "a spin lock is taken", pthread_spin_lock(&lock), 0);
    volatile long& counted = here.shared.counted.spin[which];
    counted = counted + 1;
    check(here, "a spin lock is released", pthread_spin_unlock(&lock), 0);
  }
}

void wake(const place& here, pthread_cond_t& condition) {
  check(here, "waiters are told",
        here.now().signal ? pthread_cond_signal(&condition) : pthread_cond_broadcast(&condition), 0);
}

void wait(const place& here, pthread_cond_t& condition, long ms) {
  pthread_mutex_t& mutex = here.own().mutex;
  timespec until = after_ms(CLOCK_MONOTONIC, ms);
  const int answer = here.now().by == how::clock ? pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until)
                     : here.now().by == how::timed || ms < 1000 ? pthread_cond_timedwait(&condition, &mutex, &until)
                                                                : pthread_cond_wait(&condition, &mutex);
  if (answer == ETIMEDOUT && ms < 1000) return;
  check(here, "a wait ends", answer, 0);
}

/// All on one condition where all are told; makers and takers on their own where one is.
void pass_tokens(const place& here, int index) {
  const operation& one = here.now();
  const int pairs = one.participants() / 2;
  if (index >= 2 * pairs) return;
  const bool makes = index < pairs;
  slot& own = here.own();
  pthread_cond_t& mine = own.condition[one.signal && !makes];
  pthread_cond_t& theirs = own.condition[one.signal && makes];
  const how by = one.by == how::old || one.by == how::old_attempt ? one.by : how::lock;
  for (int i = 0; i < one.times; ++i) {
    take(here, own.mutex, by);
    while (makes ? own.ready == 3 : own.ready == 0) wait(here, mine, 30'000);
    own.ready += makes ? 1 : -1;
    if (!makes) ++here.shared.counted.operation[here.number];
    wake(here, theirs);
    release(here, own.mutex, by);
  }
}

void take_turns(const place& here, int index) {
  slot& own = here.own();
  const bool alone = here.made.processes > 1 && !here.made.condition_shared;
  for (int i = 0; i < here.now().times; ++i) {
    take(here, own.mutex, how::lock);
    while (own.ready != index) wait(here, own.condition[0], alone ? 3 : 30'000);
    own.ready = 1 - index;
    ++here.shared.counted.operation[here.number];
    wake(here, own.condition[0]);
    release(here, own.mutex, how::lock);
  }
}

void meet(const place& here) {
  slot& own = here.own();
  const long all = here.now().participants();
  for (int i = 1; i <= here.now().times; ++i) {
    ++own.done;
    const int answer = pthread_barrier_wait(&own.barrier);
    if (answer != PTHREAD_BARRIER_SERIAL_THREAD) check(here, "a barrier lets go", answer, 0);
    check(here, "all have come to the barrier", own.done >= all * i, 1);
    if (answer == PTHREAD_BARRIER_SERIAL_THREAD) {
      volatile long& counted = here.shared.counted.operation[here.number];
      counted = counted + all;
    }
    // The next round's arrivals have to be behind this round's check.
    pthread_barrier_wait(&own.barrier);
  }
}

/// The lock is nearly always held, and again and again free.
void be_patient(const place& here, int index) {
  slot& own = here.own();
  if (index == 0) {
    for (int i = 0; i < here.now().times; ++i) {
      timespec until = after_ms(here.now().signal ? CLOCK_MONOTONIC : CLOCK_REALTIME, 10'000);
      check(here, "a lock with a deadline that is free again and again is got",
            here.now().signal ? pthread_mutex_clocklock(&own.mutex, CLOCK_MONOTONIC, &until)
                              : pthread_mutex_timedlock(&own.mutex, &until),
            0);
      release(here, own.mutex, how::lock);
    }
    own.done = 1;
  }
  while (own.done == 0) {
    take(here, own.mutex, how::lock);
    for (int work = 0; work < 2000; ++work) static_cast<void>(own.done.load());
    release(here, own.mutex, how::lock);
  }
}

void on_coroutine(const place& here) {
  constexpr std::size_t bytes = std::size_t{1} << 16;
  void* const stack = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  place copy = here;
  on_bare_stack([](void* argument) { count_under_mutexes(*static_cast<place*>(argument)); }, &copy,
                static_cast<unsigned char*>(stack), bytes);
  munmap(stack, bytes);
}

bool counts_together(deed what) {
  return what == deed::sections || what == deed::reads || what == deed::spin || what == deed::coroutine;
}

/// So that they meet at the locks: for a short while each waits for the others.
void come_together(const place& here) {
  std::atomic<long>& come = here.own().done;
  ++come;
  for (int i = 0; i < 20 && come < here.now().participants(); ++i) sched_yield();
}

}  // namespace

void run(const place& here) {
  const int index = here.now().index_of(here.thread);
  if (counts_together(here.now().what)) come_together(here);
  switch (here.now().what) {
    case deed::sections:
      return count_under_mutexes(here);
    case deed::reads:
      return read_and_write(here);
    case deed::spin:
      return spin(here);
    case deed::tokens:
      return pass_tokens(here, index);
    case deed::turns:
      return take_turns(here, index);
    case deed::barrier:
      return meet(here);
    case deed::patience:
      return be_patient(here, index);
    case deed::coroutine:
      return on_coroutine(here);
    default:
      return run_alone(here);
  }
}

}  // namespace generated

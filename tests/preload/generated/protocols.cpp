// SPDX-License-Identifier: Apache-2.0
// Mutexes with a protocol of their own: robust ones, whose owners end while they hold them, and priority-inheriting
// ones. The preloaded library leaves them to the C library.
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "state.hpp"

namespace generated {
namespace {

/// Of one operation, in memory that a child process shares.
struct lost {
  const place& here;
  pthread_mutex_t mutex{};
  pthread_cond_t condition{};
  std::atomic<bool> held = false;
};

constexpr int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK};

void make(lost& one, bool robust, bool inherits, bool shared) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, types[one.here.now().objects % 3]);
  if (robust) pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  if (inherits) pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
  if (shared) pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  check(one.here, "a mutex with a protocol is made", pthread_mutex_init(&one.mutex, &attributes), 0);
  pthread_mutexattr_destroy(&attributes);
  pthread_condattr_t condition;
  pthread_condattr_init(&condition);
  if (shared) pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
  pthread_cond_init(&one.condition, &condition);
  pthread_condattr_destroy(&condition);
}

void count(const place& here) {
  volatile long& counted = here.shared.counted.operation[here.number];
  counted = counted + 1;
}

/// Takes the mutex and never gives it back.
void own_and_end(lost& one) {
  take(one.here, one.mutex, one.here.now().by);
  count(one.here);
  one.held = true;
  pthread_cond_signal(&one.condition);
  for (int i = 0; i < 5; ++i) sched_yield();  // the next one comes while it is held
}

void* own_as_thread(void* argument) {
  own_and_end(*static_cast<lost*>(argument));
  return nullptr;
}

/// The answer of the mutex to the one that comes after an owner who has ended, or is about to.
int take_after(lost& one, bool waits_on_condition) {
  if (!waits_on_condition) {
    while (!one.held) sched_yield();
    return answer_of(one.mutex, one.here.now().by);
  }
  int answer = 0;
  while (answer == 0 && !one.held) answer = pthread_cond_wait(&one.condition, &one.mutex);
  return answer;
}

/// Whoever comes next is told, and has the mutex.
void lose_one(lost& one, bool by_process, bool by_condition) {
  one.held = false;
  if (by_condition) take(one.here, one.mutex, how::lock);
  pthread_t thread{};
  pid_t child = 0;
  if (!by_process) {
    check(one.here, "a thread starts", pthread_create(&thread, nullptr, own_as_thread, &one), 0);
  } else if ((child = fork()) == 0) {
    own_and_end(one);
    _exit(0);
  }
  check(one.here, "the owner of a robust mutex has ended", take_after(one, by_condition), EOWNERDEAD);
  if (by_process)
    check(one.here, "a child's status", status_of(child), 0);
  else
    check(one.here, "a thread is joined", pthread_join(thread, nullptr), 0);
}

void* count_inherited(void* argument) {
  lost& one = *static_cast<lost*>(argument);
  const operation& asked = one.here.now();
  for (int i = 0; i < inherits_rounds * asked.times; ++i) {
    take(one.here, one.mutex, asked.by);
    count(one.here);
    if (i % 4 == 3) {
      timespec until = after_ms(CLOCK_REALTIME, 1);
      const int answer = pthread_cond_timedwait(&one.condition, &one.mutex, &until);
      if (answer != 0) check(one.here, "a wait with a priority-inheriting mutex", answer, ETIMEDOUT);
    }
    pthread_cond_signal(&one.condition);
    release(one.here, one.mutex, asked.by);
  }
  return nullptr;
}

void destroy(lost& one) {
  check(one.here, "a mutex with a protocol is destroyed", pthread_mutex_destroy(&one.mutex), 0);
  pthread_cond_destroy(&one.condition);
}

}  // namespace

void lose_owners(const place& here) {
  void* const memory = mmap(nullptr, sizeof(lost), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  lost& one = *new (memory) lost{here};
  const operation& asked = here.now();
  // POSIX says nothing of locks in the child of a process with threads.
  const bool by_process = here.made.undefined && (asked.objects & 1) != 0;
  make(one, true, (asked.objects & 2) != 0, by_process);
  for (long turn = 0; turn < robust_turns(asked); ++turn) {
    lose_one(one, by_process, (asked.objects & 4) != 0 && turn % 2 == 0);
    if (turn < asked.times) check(here, "it is made consistent", pthread_mutex_consistent(&one.mutex), 0);
    release(here, one.mutex, asked.by);
  }
  if (asked.signal) check(here, "it was not made consistent", answer_of(one.mutex, asked.by), ENOTRECOVERABLE);
  destroy(one);
  munmap(memory, sizeof(lost));
}

void inherit_priority(const place& here) {
  lost one{here};
  make(one, false, true, (here.now().objects & 4) != 0);
  pthread_t started[inherits_threads];
  for (pthread_t& thread : started)
    check(here, "a thread starts", pthread_create(&thread, nullptr, count_inherited, &one), 0);
  for (const pthread_t thread : started) check(here, "a thread is joined", pthread_join(thread, nullptr), 0);
  destroy(one);
}

}  // namespace generated

// SPDX-License-Identifier: Apache-2.0
// Forks of a process whose handlers of pthread_atfork() take all its locks before, and give them up on both sides. So
// the child finds the locks free, and what they guard whole.
#include <sched.h>
#include <unistd.h>

#include "state.hpp"

namespace generated {
namespace {

constexpr int kinds = 4;
constexpr int guarded = kinds + 1;  ///< the last one by the reader-writer lock

/// Of a process, and private to it. Handlers cannot be removed: they hold for all its later forks, whoever asks for
/// them.
struct kept {
  pthread_mutex_t mutex[kinds];
  pthread_rwlock_t rwlock;
  volatile long counted[guarded];
  std::atomic<long> known[guarded];
};
kept locks;
const place* registered = nullptr;
/// Of the threads that do it: the others' forks take no notice.
pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

void make_mutex(int kind) { make(locks.mutex[kind], {static_cast<mutex_kind>(kind), false, false}); }

void make_rwlock() { pthread_rwlock_init(&locks.rwlock, nullptr); }

void before_fork() {
  for (pthread_mutex_t& mutex : locks.mutex) take(*registered, mutex, registered->now().by);
  check(*registered, "a handler writes", pthread_rwlock_wrlock(&locks.rwlock), 0);
}

void in_parent() {
  check(*registered, "a handler has written", pthread_rwlock_unlock(&locks.rwlock), 0);
  for (int kind = kinds - 1; kind >= 0; --kind) release(*registered, locks.mutex[kind], registered->now().by);
}

/// The thread has another number here: what knows its owner is not its own under the C library, and is made anew.
void in_child() {
  make_rwlock();
  for (int kind = kinds - 1; kind >= 0; --kind) {
    const auto as = static_cast<mutex_kind>(kind);
    if (as == mutex_kind::recursive || as == mutex_kind::error_checking)
      make_mutex(kind);
    else
      release(*registered, locks.mutex[kind], registered->now().by);
  }
}

void register_handlers(const place& here) {
  if (registered != nullptr) return;
  static const place first = here;
  registered = &first;
  for (int kind = 0; kind < kinds; ++kind) make_mutex(kind);
  make_rwlock();
  check(here, "handlers are registered", pthread_atfork(before_fork, in_parent, in_child), 0);
}

void count(int which, bool slowly) {
  const long before = locks.counted[which];
  if (slowly) sched_yield();
  locks.counted[which] = before + 1;
  ++locks.known[which];
}

void count_under_each(const place& here, int round) {
  for (int kind = 0; kind < kinds; ++kind) {
    take(here, locks.mutex[kind], here.now().by);
    count(kind, (round + kind) % 4 == 0);
    release(here, locks.mutex[kind], here.now().by);
  }
  check(here, "a lock is taken to write", pthread_rwlock_wrlock(&locks.rwlock), 0);
  count(kinds, round % 4 == 0);
  check(here, "a writer releases", pthread_rwlock_unlock(&locks.rwlock), 0);
}

struct counter {
  const place& here;
  std::atomic<bool> stop = false;
};

void* count_until_told(void* argument) {
  counter& mine = *static_cast<counter*>(argument);
  for (int round = 0; !mine.stop; ++round) count_under_each(mine.here, round);
  return nullptr;
}

void* count_a_little(void* argument) {
  for (int round = 0; round < 10; ++round) count_under_each(static_cast<counter*>(argument)->here, round);
  return nullptr;
}

void compare(const place& here, const char* where) {
  for (int which = 0; which < guarded; ++which)
    check(here, where, static_cast<int>(locks.counted[which]), static_cast<int>(locks.known[which]));
}

void fork_once(counter& all, int generations);

/// POSIX leaves threads in the child of a process with threads undefined.
[[noreturn]] void be_child(counter& all, int generations) {
  const place& here = all.here;
  compare(here, "a child finds what a fork's handlers guard");
  if (generations > 1) fork_once(all, generations - 1);
  pthread_t thread{};
  if (here.made.undefined) thread = start_thread(here, count_a_little, &all);
  count_a_little(&all);
  if (here.made.undefined) join_thread(here, thread);
  compare(here, "counted in a child");
  _exit(0);
}

void fork_once(counter& all, int generations) {
  const pid_t child = fork();
  if (child == 0) be_child(all, generations);
  check(all.here, "a child starts", child > 0, 1);
  check(all.here, "a child's status", status_of(child), 0);
}

}  // namespace

void fork_with_handlers(const place& here) {
  take(here, one_at_a_time, how::lock);
  register_handlers(here);
  counter all{here};
  const pthread_t others[] = {start_thread(here, count_until_told, &all), start_thread(here, count_until_told, &all)};
  for (int i = 0; i < here.now().times; ++i) {
    fork_once(all, here.now().signal ? 2 : 1);
    ++here.shared.counted.operation[here.number];
  }
  all.stop = true;
  for (const pthread_t other : others) join_thread(here, other);
  compare(here, "counted by a parent");
  release(here, one_at_a_time, how::lock);
}

}  // namespace generated

// SPDX-License-Identifier: Apache-2.0
// Coroutines by makecontext(): they switch away within a critical section and back in the same thread, and go on in
// another thread between sections. To release a mutex in another thread than the one that took it is undefined in
// POSIX; the C library allows it for normal mutexes.
#include <sched.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>
#include <deque>

#include "state.hpp"

namespace generated {
namespace {

constexpr std::size_t stack_bytes = std::size_t{1} << 16;
constexpr int guarded = 2;
constexpr int rounds = 10;

struct scene;

/// Its body must not ask for anything that is each thread's own, such as errno: compilers keep its address.
struct coroutine {
  scene& all;
  int number;
  void (*body)(coroutine&);
  ucontext_t own{};
  ucontext_t caller{};
  void* stack = nullptr;
  bool done = false;
};

struct scene {
  const place& here;
  int threads;
  bool switches_inside;  ///< also where another thread goes on
  pthread_mutex_t mutex[guarded]{};
  volatile long counted[guarded]{};
  std::atomic<long> known[guarded]{};
  pthread_mutex_t queue_mutex = PTHREAD_MUTEX_INITIALIZER;
  std::deque<coroutine*> queue{};
  std::atomic<int> left = 0;
};

void enter(unsigned high, unsigned low) {
  auto& self = *reinterpret_cast<coroutine*>(static_cast<std::uintptr_t>(high) << 32 | low);
  self.body(self);
  self.done = true;
  swapcontext(&self.own, &self.caller);
}

void begin(coroutine& one) {
  one.stack = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(one.all.here, "a stack is mapped", one.stack != MAP_FAILED, 1);
  getcontext(&one.own);
  one.own.uc_stack.ss_sp = one.stack;
  one.own.uc_stack.ss_size = stack_bytes;
  one.own.uc_link = nullptr;
  const auto at = reinterpret_cast<std::uintptr_t>(&one);
  makecontext(&one.own, reinterpret_cast<void (*)()>(enter), 2, static_cast<unsigned>(at >> 32),
              static_cast<unsigned>(at));
}

void end(coroutine& one) { munmap(one.stack, stack_bytes); }

void resume(coroutine& one) { swapcontext(&one.caller, &one.own); }

void switch_away(coroutine& self) { swapcontext(&self.own, &self.caller); }

/// One section. With `inside`, others run in this thread, or it goes on in another, while the mutex is held.
void count(coroutine& self, int which, bool again, bool inside) {
  scene& all = self.all;
  const how by = all.here.now().by;
  take(all.here, all.mutex[which], by);
  if (again) take(all.here, all.mutex[which], by);
  const long before = all.counted[which];
  if (inside) switch_away(self);
  all.counted[which] = before + 1;
  ++all.known[which];
  if (again) release(all.here, all.mutex[which], by);
  release(all.here, all.mutex[which], by);
}

/// Two of a thread, in turns: the first takes its mutex, then the second; each releases in the order it took.
void hold_across_switches(coroutine& self) {
  const bool recursive = self.all.here.now().objects % 4 == static_cast<unsigned>(mutex_kind::recursive);
  for (int round = 0; round < rounds; ++round) {
    count(self, self.number, recursive && round % 2 != 0, true);
    switch_away(self);
  }
}

void* run_two(void* argument) {
  scene& all = *static_cast<scene*>(argument);
  coroutine two[] = {{all, 0, hold_across_switches}, {all, 1, hold_across_switches}};
  for (coroutine& one : two) begin(one);
  while (!two[1].done)
    for (coroutine& one : two)
      if (!one.done) resume(one);
  for (coroutine& one : two) end(one);
  return nullptr;
}

void go_from_thread_to_thread(coroutine& self) {
  for (int round = 0; round < rounds; ++round) {
    count(self, (self.number + round) % guarded, false, self.all.switches_inside && round % 2 != 0);
    switch_away(self);
  }
}

coroutine* next_of_queue(scene& all) {
  take(all.here, all.queue_mutex, how::lock);
  coroutine* one = nullptr;
  if (!all.queue.empty()) {
    one = all.queue.front();
    all.queue.pop_front();
  }
  release(all.here, all.queue_mutex, how::lock);
  return one;
}

void* work_off_queue(void* argument) {
  scene& all = *static_cast<scene*>(argument);
  while (all.left > 0) {
    coroutine* const one = next_of_queue(all);
    if (one == nullptr) {
      sched_yield();
      continue;
    }
    resume(*one);
    if (one->done) {
      --all.left;
      continue;
    }
    take(all.here, all.queue_mutex, how::lock);
    all.queue.push_back(one);
    release(all.here, all.queue_mutex, how::lock);
  }
  return nullptr;
}

void run_threads(scene& all, void* (*body)(void*)) {
  std::vector<pthread_t> threads;
  for (int i = 0; i < all.threads; ++i) threads.push_back(start_thread(all.here, body, &all));
  for (const pthread_t thread : threads) join_thread(all.here, thread);
  for (int which = 0; which < guarded; ++which)
    check(all.here, "counted by coroutines", static_cast<int>(all.counted[which]), static_cast<int>(all.known[which]));
}

/// No more coroutines than threads: of a mutex whose holder is in the queue, one thread at least does not wait.
void run_queue(scene& all) {
  std::deque<coroutine> every;
  for (int i = 0; i < all.threads; ++i) {
    every.push_back({all, i, go_from_thread_to_thread});
    begin(every.back());
    all.queue.push_back(&every.back());
  }
  all.left = all.threads;
  run_threads(all, work_off_queue);
  for (coroutine& one : every) end(one);
}

}  // namespace

void switch_coroutines(const place& here) {
  const operation& asked = here.now();
  const auto kind = static_cast<mutex_kind>(asked.objects % 4);
  const bool knows_owner = kind == mutex_kind::recursive || kind == mutex_kind::error_checking;
  scene all{here, 2 + static_cast<int>(asked.objects / 8), here.made.undefined && !knows_owner};
  for (pthread_mutex_t& mutex : all.mutex)
    make(mutex, {kind, false, (asked.objects & 4) != 0 && here.made.processes > 1});
  for (int i = 0; i < asked.times; ++i) {
    if (asked.signal) run_threads(all, run_two);
    run_queue(all);
    ++here.shared.counted.operation[here.number];
  }
  for (pthread_mutex_t& mutex : all.mutex) check(here, "a mutex is destroyed", pthread_mutex_destroy(&mutex), 0);
}

}  // namespace generated

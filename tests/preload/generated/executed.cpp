// SPDX-License-Identifier: Apache-2.0
// Children that become another program: at once, or with threads of their own that hold locks and wait.
#include <sched.h>
#include <spawn.h>
#include <unistd.h>

#include <ctime>

#include "state.hpp"

namespace generated {

command::command(const environment& around, std::vector<std::string> words) : words_(std::move(words)) {
  words_.insert(words_.begin(), around.self);
  for (std::string& word : words_) arguments_.push_back(word.data());
  arguments_.push_back(nullptr);
}

void command::become() {
  execv(arguments_[0], arguments_.data());
  _exit(9);
}

namespace {

command next_step(const place& here, const char* step) {
  return {here.around,
          {"--operation", here.around.plugins, std::to_string(here.made.seed), std::to_string(here.thread),
           std::to_string(here.around.memory), std::to_string(here.made.without), std::to_string(here.number), step}};
}

/// With one that does the same.
void meet_and_count(const place& here) {
  slot& own = here.own();
  take(here, own.mutex, how::lock);
  ++own.ready;
  check(here, "waiters are told", pthread_cond_broadcast(&own.condition[0]), 0);
  while (own.ready < 2) {
    const timespec until = after_ms(CLOCK_MONOTONIC, patient_ms);
    check(here, "another program comes", pthread_cond_timedwait(&own.condition[0], &own.mutex, &until), 0);
  }
  release(here, own.mutex, how::lock);
  volatile long& counted = here.shared.counted.operation[here.number];
  for (int i = 0; i < executed_rounds * here.now().times; ++i) {
    take(here, own.mutex, here.now().by);
    const long before = counted;
    if (i % 8 == 3) sched_yield();
    counted = before + 1;
    release(here, own.mutex, here.now().by);
  }
}

pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t idle = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;
std::atomic<bool> is_held{false};
std::atomic<int> running{0};

void* hold_and_wait(void* argument) {
  const place& here = *static_cast<place*>(argument);
  take(here, held, here.now().by);
  is_held = true;
  take(here, idle, how::lock);
  ++running;
  for (;;) pthread_cond_wait(&never, &idle);
}

void* be_busy(void* argument) {
  const place& here = *static_cast<place*>(argument);
  for (++running;;) {
    take(here, busy, here.now().by);
    release(here, busy, here.now().by);
  }
}

void* wait_in_a_queue(void* argument) {
  const place& here = *static_cast<place*>(argument);
  while (!is_held) sched_yield();
  ++running;
  take(here, held, how::lock);
  return nullptr;
}

void* go_on(void* argument) { next_step(*static_cast<place*>(argument), "count").become(); }

[[noreturn]] void be_replaced(place& here) {
  pthread_t thread;
  for (void* (*const body)(void*) : {hold_and_wait, be_busy, wait_in_a_queue})
    check(here, "a thread starts", pthread_create(&thread, nullptr, body, &here), 0);
  while (running < 3) sched_yield();
  if (here.now().signal) go_on(&here);
  check(here, "a thread starts", pthread_create(&thread, nullptr, go_on, &here), 0);
  for (;;) pause();
}

}  // namespace

void execute(const place& here) {
  command first = next_step(here, here.now().what == deed::replaced ? "threads" : "count");
  const bool spawns = here.now().times % 2 == 0;
  pid_t child = -1;
  if (spawns)
    check(here, "a program is spawned",
          posix_spawn(&child, here.around.self, nullptr, nullptr, first.arguments(), environ), 0);
  else if ((child = fork()) == 0)
    first.become();
  meet_and_count(here);
  check(here, "a child's status", status_of(child), 0);
}

void run_executed(place& here, bool with_threads) {
  if (with_threads) be_replaced(here);
  meet_and_count(here);
  _exit(0);
}

}  // namespace generated

// SPDX-License-Identifier: Apache-2.0
// The threads and processes of a generated program.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "state.hpp"

#if defined(__x86_64__)
// What small coroutine libraries do: the stack is changed, and nothing says how to unwind it. The body returns to a
// function that changes it back; the frame below that one is the marker.
extern "C" void txsync_test_jump(void** save, void* to);
__asm__(
    ".text\n.type txsync_test_jump,@function\ntxsync_test_jump:\n push %rbp\n push %rbx\n push %r12\n push %r13\n"
    " push %r14\n push %r15\n mov %rsp,(%rdi)\n mov %rsi,%rsp\n pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n"
    " pop %rbp\n ret\n.size txsync_test_jump,.-txsync_test_jump\n");
#endif

namespace generated {

#if defined(__x86_64__)
namespace {
struct switched {
  void (*body)(void*);
  void* argument;
  void* caller;
  void* own;
};
// The bottom function is entered by a return, with no arguments.
thread_local switched* current = nullptr;

[[noreturn]] void bottom() {
  switched& here = *current;
  here.body(here.argument);
  txsync_test_jump(&here.own, here.caller);
  __builtin_unreachable();
}
}  // namespace

void on_bare_stack(void (*body)(void*), void* argument, unsigned char* stack, std::size_t bytes) {
  constexpr std::uintptr_t marker = 0xfeedfacecafe;
  auto* const top = reinterpret_cast<std::uintptr_t*>(stack + bytes - 64 + 8);  // aligned as at a call
  top[0] = marker;
  top[-1] = reinterpret_cast<std::uintptr_t>(bottom);
  for (int saved = 2; saved < 8; ++saved) top[-saved] = 0;
  switched here{body, argument, nullptr, nullptr};
  current = &here;
  txsync_test_jump(&here.caller, top - 7);
}
#else
void on_bare_stack(void (*body)(void*), void* argument, unsigned char*, std::size_t) { body(argument); }
#endif

pthread_t start_thread(const place& here, void* (*body)(void*), void* argument) {
  pthread_t thread;
  check(here, "a thread starts", pthread_create(&thread, nullptr, body, argument), 0);
  return thread;
}

void* join_thread(const place& here, pthread_t thread) {
  void* result = nullptr;
  check(here, "a thread is joined", pthread_join(thread, &result), 0);
  return result;
}

int status_of(pid_t child) {
  int status = -1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::size_t state_bytes() { return sizeof(state); }

namespace {

void* run_thread(void* argument) {
  place here = *static_cast<place*>(argument);
  for (std::size_t i = 0; i < here.made.operations.size(); ++i) {
    here.number = static_cast<int>(i);
    here.shared.at[here.thread] = here.number + 1;
    if ((here.now().threads >> here.thread & 1) != 0) run(here);
  }
  here.shared.at[here.thread] = 0;
  return nullptr;
}

void run_threads(const program& made, state& shared, const environment& around, int process) {
  pthread_t started[max_threads];
  std::vector<place> places;
  for (int t = 0; t < made.threads; ++t)
    if (made.process_of(t) == process) places.push_back({made, shared, around, t});
  for (std::size_t i = 1; i < places.size(); ++i)
    check(places[0], "a thread starts", pthread_create(&started[i], nullptr, run_thread, &places[i]), 0);
  run_thread(&places[0]);
  for (std::size_t i = 1; i < places.size(); ++i) pthread_join(started[i], nullptr);
}

command as_process(const program& made, const environment& around, int process) {
  return {around,
          {"--process", around.plugins, std::to_string(made.seed), std::to_string(process),
           std::to_string(around.memory), std::to_string(made.without)}};
}

void compare(const place& here, const counts& got, const counts& want) {
  const auto each = [&](const char* what, const long* counted, const long* known, int count) {
    for (int i = 0; i < count; ++i) check(here, what, static_cast<int>(counted[i]), static_cast<int>(known[i]));
  };
  each("counted under a mutex", got.mutex, want.mutex, mutexes);
  each("counted under a reader-writer lock", got.rwlock, want.rwlock, rwlocks);
  each("counted under a spin lock", got.spin, want.spin, spins);
  each("counted by an operation", got.operation, want.operation, max_operations);
}

}  // namespace

void run_first(const program& made, state& shared, const environment& around) {
  initialize(made, shared);
  pid_t children[max_processes];
  for (int p = 1; p < made.processes; ++p) {
    children[p] = fork();
    if (children[p] != 0) continue;
    if (made.executes) as_process(made, around, p).become();
    run_other(made, shared, around, p);
  }
  run_threads(made, shared, around, 0);
  const place end{made, shared, around, 0, static_cast<int>(made.operations.size())};
  for (int p = 1; p < made.processes; ++p) {
    check(end, "a process's status", status_of(children[p]), 0);
  }
  compare(end, shared.counted, expected(made));
  _exit(0);
}

void run_other(const program& made, state& shared, const environment& around, int process) {
  run_threads(made, shared, around, process);
  _exit(0);
}

}  // namespace generated

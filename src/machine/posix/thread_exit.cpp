// SPDX-License-Identifier: Apache-2.0
// Not part of the preloaded libraries: it takes one of the program's keys.
#include <pthread.h>

#include <txsync/machine/thread.hpp>

namespace txsync::inline TXSYNC_BACKEND::machine {

namespace {

constexpr unsigned exit_slots = 8;
struct exit_call {
  thread::entry function;
  void* argument;
};
thread_local exit_call exit_calls[exit_slots];
thread_local unsigned exit_call_count = 0;

void run_exit_calls(void*) {
  while (exit_call_count > 0) {
    const exit_call call = exit_calls[--exit_call_count];
    call.function(call.argument);
  }
}

/// The key whose destructor runs the calls; made by the first caller. Null when the program has used up all keys.
const pthread_key_t* exit_key() noexcept {
  static pthread_key_t key;
  static bool made = false;
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] { made = pthread_key_create(&key, run_exit_calls) == 0; });
  return made ? &key : nullptr;
}

// Early, so that it is one of the keys whose values need no memory from the heap.
[[gnu::constructor]] void make_exit_key() noexcept { (void)exit_key(); }

}  // namespace

bool at_thread_exit(thread::entry function, void* argument) noexcept {
  if (exit_call_count == exit_slots) return false;
  if (exit_call_count == 0) {
    const pthread_key_t* const key = exit_key();
    if (key == nullptr || pthread_setspecific(*key, exit_calls) != 0) return false;
  }
  exit_calls[exit_call_count++] = {function, argument};
  return true;
}

}  // namespace txsync::inline TXSYNC_BACKEND::machine

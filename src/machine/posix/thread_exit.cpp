// SPDX-License-Identifier: Apache-2.0
// Not part of the preloaded libraries, because it takes one of the program's thread-specific keys.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <txsync/machine/thread.hpp>

// Weak: a statically linked program has neither, and cannot close the module.
extern "C" {
[[gnu::weak]] decltype(dladdr1) dladdr1;
[[gnu::weak]] decltype(dlopen) dlopen;
}

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace {

constexpr unsigned exit_slots = 4;  // few, because they take thread-local memory
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

/// The key whose destructor runs the calls. The first caller creates it. Null if the program has used up all keys.
const pthread_key_t* exit_key() noexcept {
  static pthread_key_t key;
  static bool made = false;
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] { made = pthread_key_create(&key, run_exit_calls) == 0; });
  return made ? &key : nullptr;
}

/// Keeps the module loaded, because threads that end after dlclose() would call a destructor that is gone. An
/// alternative is __cxa_thread_atexit_impl(), which keeps a module while such threads live. But its calls come before
/// those of keys, and so before locks that other destructors take. They also come at the end of the process. Fault
/// handlers are in the module, too.
void stay_loaded() noexcept {
  if (&dladdr1 == nullptr || &dlopen == nullptr) return;
  Dl_info found{};
  void* module = nullptr;
  if (dladdr1(reinterpret_cast<void*>(&stay_loaded), &found, &module, RTLD_DL_LINKMAP) == 0) return;
  const char* const name = static_cast<const link_map*>(module)->l_name;
  if (*name != '\0') (void)dlopen(name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);  // empty: the program itself
}

// Early, so that it is one of the keys whose values need no heap memory. Also, this thread holds the loader's lock now.
// It must not be taken later, while the program holds locks.
[[gnu::constructor]] void make_exit_key() noexcept {
  stay_loaded();
  (void)exit_key();
}

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

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

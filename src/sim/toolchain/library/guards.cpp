// SPDX-License-Identifier: Apache-2.0
// Guards of static locals (Itanium C++ ABI 3.3.3), and thread-specific data.
#include <pthread.h>

#include <cerrno>

#include "once.hpp"

using namespace txsync::sim::library;

namespace {

constexpr unsigned key_count = 128;
constexpr int rounds = PTHREAD_DESTRUCTOR_ITERATIONS;

struct key {
  std::atomic<bool> used = false;
  void (*destroy)(void*) = nullptr;
};
// Static initialisers of the program, which come first, make keys.
constinit key keys[key_count] = {};
thread_local void* values[key_count];
thread_local bool registered;

void destroy_values(void*) {
  bool again = true;
  for (int round = 0; round < rounds && again; ++round) {
    again = false;
    for (unsigned i = 0; i < key_count; ++i) {
      void* value = values[i];
      if (!value || !keys[i].used || !keys[i].destroy) continue;
      values[i] = nullptr;
      keys[i].destroy(value);
      again = true;
    }
  }
}

}  // namespace

extern "C" {

int __cxa_guard_acquire(std::uint64_t* guard) { return once_begin(*reinterpret_cast<std::uint32_t*>(guard)); }
void __cxa_guard_release(std::uint64_t* guard) { once_finish(*reinterpret_cast<std::uint32_t*>(guard), true); }
void __cxa_guard_abort(std::uint64_t* guard) { once_finish(*reinterpret_cast<std::uint32_t*>(guard), false); }

int pthread_key_create(pthread_key_t* made, void (*destroy)(void*)) {
  for (unsigned i = 0; i < key_count; ++i) {
    if (keys[i].used.exchange(true)) continue;
    keys[i].destroy = destroy;
    *made = i;
    return 0;
  }
  return EAGAIN;
}
int pthread_key_delete(pthread_key_t which) {
  if (which >= key_count || !keys[which].used.exchange(false)) return EINVAL;
  return 0;
}
void* pthread_getspecific(pthread_key_t which) { return which < key_count ? values[which] : nullptr; }
int pthread_setspecific(pthread_key_t which, const void* value) {
  if (which >= key_count) return EINVAL;
  if (!registered && value) {
    registered = true;
    txsync_sim_at_thread_exit(destroy_values, nullptr);
  }
  values[which] = const_cast<void*>(value);
  return 0;
}

}  // extern "C"

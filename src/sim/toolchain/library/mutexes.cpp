// SPDX-License-Identifier: Apache-2.0
// pthread_mutex_* of a simulated program: the three-state futex mutex that glibc's normal mutex is (Drepper, "Futexes
// are tricky", 2011). The kind stands where glibc has it and is not looked at.
#include <pthread.h>
#include <txsync_backend/runtime.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace {

constexpr std::uint32_t unlocked = 0;
constexpr std::uint32_t locked = 1;
constexpr std::uint32_t locked_with_waiters = 2;
constexpr std::uint64_t no_deadline = ~std::uint64_t{0};

std::atomic<std::uint32_t>& word_of(pthread_mutex_t* mutex) {
  return *reinterpret_cast<std::atomic<std::uint32_t>*>(mutex);
}

}  // namespace

extern "C" {

int pthread_mutex_init(pthread_mutex_t* mutex, const pthread_mutexattr_t*) {
  *mutex = PTHREAD_MUTEX_INITIALIZER;
  return 0;
}
int pthread_mutex_destroy(pthread_mutex_t*) { return 0; }

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  std::atomic<std::uint32_t>& word = word_of(mutex);
  std::uint32_t seen = unlocked;
  // acquire, here and below, pairs with the release in pthread_mutex_unlock()
  if (word.compare_exchange_strong(seen, locked, std::memory_order_acquire, std::memory_order_relaxed)) return 0;
  while (word.exchange(locked_with_waiters, std::memory_order_acquire) != unlocked) {
    txsync_sim_park(&word, locked_with_waiters, no_deadline);
  }
  return 0;
}

int pthread_mutex_trylock(pthread_mutex_t* mutex) {
  std::uint32_t seen = unlocked;
  return word_of(mutex).compare_exchange_strong(seen, locked, std::memory_order_acquire, std::memory_order_relaxed)
             ? 0
             : EBUSY;
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  std::atomic<std::uint32_t>& word = word_of(mutex);
  if (word.exchange(unlocked, std::memory_order_release) == locked_with_waiters) txsync_sim_unpark(&word, 1);
  return 0;
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
// pthread_cond_*: a queue of waiters, each asleep on a word of its own stack, so that a signal goes to one thread that
// waited when it came, the one that waited longest, and nobody's wake-up can be taken by a later waiter. Works with any
// mutex, ours or the C library's. The waiting itself is where a thread can be cancelled.
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <new>

#include <txsync/locks/tatas.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/observe/counters.hpp>

#include "deadline.hpp"
#include "interpose.hpp"
#include "mutex_state.hpp"
#include "next.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

namespace {

struct waiter {
  waiter* next = nullptr;
  waiter* before = nullptr;
  std::atomic<std::uint32_t> told{0};
  bool queued = false;
  std::uint32_t forks = 0;  // fork_count() of the process that it waits in
};

/// Laid over a pthread_cond_t; all zero is a valid one.
struct condition_state {
  tatas_lock guard;  // of the queue
  std::uint32_t unused;
  std::atomic<waiter*> oldest;
  waiter* youngest;
  std::uint32_t more_unused[3];
  std::uint32_t flags;  // the C library's, at its place
  std::uint64_t last_unused;

  static constexpr std::uint32_t process_shared = 1;
  static constexpr std::uint32_t monotonic = 2;
};
static_assert(sizeof(condition_state) <= sizeof(pthread_cond_t));
#ifdef __x86_64__
static_assert(offsetof(condition_state, flags) == offsetof(pthread_cond_t, __data.__wrefs));
#endif

condition_state& state_of(pthread_cond_t* condition) noexcept {
  return *std::launder(reinterpret_cast<condition_state*>(condition));
}

bool is_shared(const condition_state& condition) noexcept {
  return (condition.flags & condition_state::process_shared) != 0;
}

// ---- the queue; all with the guard held

void put(condition_state& condition, waiter& one) noexcept {
  one.before = condition.youngest;
  one.queued = true;
  one.forks = machine::fork_count();
  // relaxed throughout: ordered by the guard; the look without it is explained in notify()
  if (one.before != nullptr) {
    one.before->next = &one;
  } else {
    condition.oldest.store(&one, std::memory_order_relaxed);
  }
  condition.youngest = &one;
}

void remove(condition_state& condition, waiter& one) noexcept {
  if (one.before != nullptr) {
    one.before->next = one.next;
  } else {
    condition.oldest.store(one.next, std::memory_order_relaxed);
  }
  if (one.next != nullptr) {
    one.next->before = one.before;
  } else {
    condition.youngest = one.before;
  }
  one.next = one.before = nullptr;
  one.queued = false;
}

/// The oldest waiter, off the queue; null when there is none. Those of the parent of this process are not there any
/// more.
waiter* take_oldest(condition_state& condition) noexcept {
  for (;;) {
    waiter* const one = condition.oldest.load(std::memory_order_relaxed);
    if (one == nullptr) return nullptr;
    remove(condition, *one);
    if (one->forks == machine::fork_count()) return one;
  }
}

// ----

/// The waiter may be gone as soon as it is told: nothing of it is read after that.
void wake(waiter& one) noexcept {
  std::atomic<std::uint32_t>& word = one.told;
  word.store(1, std::memory_order_release);  // pairs with the acquire in sleep()
  machine::unpark(word, 1);
}

void notify_one(condition_state& condition) noexcept {
  // relaxed: a waiter that the caller has to know of put itself there before it gave up the mutex that the caller has
  // held since
  if (condition.oldest.load(std::memory_order_relaxed) == nullptr) return;
  condition.guard.lock();
  waiter* const one = take_oldest(condition);
  condition.guard.unlock();
  if (one != nullptr) wake(*one);
}

void notify_all(condition_state& condition) noexcept {
  if (condition.oldest.load(std::memory_order_relaxed) == nullptr) return;  // relaxed: as in notify_one()
  condition.guard.lock();
  // As they were at this moment; who comes now waits for the next.
  waiter* first = nullptr;
  waiter** end = &first;
  while (waiter* const one = take_oldest(condition)) {
    *end = one;
    end = &one->next;
  }
  condition.guard.unlock();
  while (first != nullptr) {
    waiter* const one = first;
    first = one->next;  // before it is told
    wake(*one);
  }
}

struct wait_record {
  condition_state& condition;
  pthread_mutex_t* mutex;
  waiter self;
};

/// False when it was told already.
bool leave_queue(wait_record& wait) noexcept {
  wait.condition.guard.lock();
  const bool queued = wait.self.queued;
  if (queued) remove(wait.condition, wait.self);
  wait.condition.guard.unlock();
  return queued;
}

/// Whoever took this thread off the queue will tell it; until then its record must stay.
void await_telling(waiter& self) noexcept {
  // acquire pairs with the release in wake()
  while (self.told.load(std::memory_order_acquire) == 0) machine::park(self.told, 0);
}

/// The thread was cancelled in its wait: a signal that it got goes to another, and it ends with the mutex held.
void clean_up(void* raw) {
  auto& wait = *static_cast<wait_record*>(raw);
  if (!leave_queue(wait)) {
    await_telling(wait.self);
    notify_one(wait.condition);
  }
  int status = 0;
  take_after_wait(wait.mutex, status);
}

/// From the queue to a signal (0) or the deadline (ETIMEDOUT).
int sleep(wait_record& wait, machine::wait_clock clock, std::uint64_t deadline) {
  // acquire pairs with the release in wake()
  while (wait.self.told.load(std::memory_order_acquire) == 0) {
    if (machine::park_cancelably(wait.self.told, 0, clock, deadline, clean_up, &wait) !=
        machine::park_result::timed_out)
      continue;
    if (leave_queue(wait)) return ETIMEDOUT;
    await_telling(wait.self);
  }
  return 0;
}

/// Between processes only the C library's own object works, and it works only with its own mutex. With one of ours a
/// wait comes back early, for nothing, as waits may.
int nap(pthread_mutex_t* mutex) noexcept {
  if (const int status = release_for_wait(mutex); status != 0) return status;
  machine::sleep_ns(1'000'000);
  int status = 0;
  take_after_wait(mutex, status);
  return status;
}

int wait_until(condition_state& condition, pthread_mutex_t* mutex, machine::wait_clock clock, std::uint64_t deadline) {
  wait_record wait{condition, mutex, {}};
  const std::uint32_t site = site_of(mutex);
  condition.guard.lock();
  put(condition, wait.self);
  condition.guard.unlock();
  if (const int status = release_for_wait(mutex); status != 0) {
    if (!leave_queue(wait)) await_telling(wait.self);
    return status;
  }
  const std::uint64_t start = machine::cycles();
  int status = sleep(wait, clock, deadline);
  const std::uint64_t waited = machine::cycles() - start;
  take_after_wait(mutex, status);
  observe::detail::condition_waited(site, waited);
  return status;
}

machine::wait_clock own_clock(const condition_state& condition) noexcept {
  return (condition.flags & condition_state::monotonic) != 0 ? machine::wait_clock::monotonic
                                                             : machine::wait_clock::realtime;
}

}  // namespace

}  // namespace txsync::inline TXSYNC_BACKEND::preload

using namespace txsync;
using namespace txsync::preload;

TXSYNC_INTERPOSE int pthread_cond_init(pthread_cond_t* condition, const pthread_condattr_t* attributes) noexcept {
  return next().cond_init(condition, attributes);
}

TXSYNC_INTERPOSE int pthread_cond_destroy(pthread_cond_t* condition) noexcept {
  condition_state& state = state_of(condition);
  if (is_shared(state)) return next().cond_destroy(condition);
  // Threads that were told do not come back to it. relaxed: the caller is the last
  return state.oldest.load(std::memory_order_relaxed) == nullptr ? 0 : EBUSY;
}

TXSYNC_INTERPOSE int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  condition_state& state = state_of(condition);
  if (is_shared(state)) return is_foreign(mutex) ? next().cond_wait(condition, mutex) : nap(mutex);
  return wait_until(state, mutex, machine::wait_clock::monotonic, machine::no_deadline);
}

TXSYNC_INTERPOSE int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* time) {
  if (!is_time(*time)) return EINVAL;
  condition_state& state = state_of(condition);
  if (is_shared(state)) return is_foreign(mutex) ? next().cond_timedwait(condition, mutex, time) : nap(mutex);
  return wait_until(state, mutex, own_clock(state), to_ns(*time));
}

TXSYNC_INTERPOSE int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                            const timespec* time) {
  if (!is_time(*time) || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)) return EINVAL;
  condition_state& state = state_of(condition);
  if (is_shared(state)) {
    if (!is_foreign(mutex)) return nap(mutex);
    return next().cond_clockwait != nullptr ? next().cond_clockwait(condition, mutex, clock, time) : ENOTSUP;
  }
  return wait_until(state, mutex,
                    clock == CLOCK_MONOTONIC ? machine::wait_clock::monotonic : machine::wait_clock::realtime,
                    to_ns(*time));
}

TXSYNC_INTERPOSE int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  condition_state& state = state_of(condition);
  if (is_shared(state)) return next().cond_signal(condition);
  notify_one(state);
  return 0;
}

TXSYNC_INTERPOSE int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  condition_state& state = state_of(condition);
  if (is_shared(state)) return next().cond_broadcast(condition);
  notify_all(state);
  return 0;
}

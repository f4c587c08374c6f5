// SPDX-License-Identifier: Apache-2.0
// pthread_barrier_*: counts arrivals, and lets threads sleep on the phase's number. Waits count as condition waits.
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <new>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/observe/counters.hpp>

#include "interpose.hpp"
#include "next.hpp"
#include "sites.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

constexpr std::uint64_t spin_budget = 60'000;  // cycles

/// Laid over a pthread_barrier_t, which has no static initialiser. The low half of the turn holds the number of threads
/// that have arrived, the high half the number of the phase. Both change at once: more threads than the barrier counts
/// may come together, and each must be counted in one phase.
struct barrier_state {
  std::atomic<std::uint64_t> turn;
  std::uint32_t threads;
  std::uint32_t process_shared;       // the C library's field, at its place
  std::atomic<std::uint32_t> inside;  // threads that may still access the barrier
  std::uint32_t unused;
  std::uint32_t site;
  bool is_left;  // to the C library, which uses no byte from `unused` on
};
static_assert(sizeof(barrier_state) <= sizeof(pthread_barrier_t));
static_assert(offsetof(barrier_state, site) >= 20, "in struct pthread_barrier of glibc the last is at 16");

constexpr std::size_t shared_offset = 12;  // in struct pthread_barrier of glibc, on every architecture
static_assert(offsetof(barrier_state, process_shared) == shared_offset);

barrier_state& state_of(pthread_barrier_t* barrier) noexcept {
  return *std::launder(reinterpret_cast<barrier_state*>(barrier));
}

/// A barrier shared by processes may have been made by one that does not have this library.
bool is_foreign(const barrier_state& barrier) noexcept { return barrier.process_shared != 0 || barrier.is_left; }

void wait_for_others(barrier_state& barrier, std::uint32_t phase) noexcept {
  const std::uint64_t start = machine::cycles();
  // acquire pairs with the release of the last thread to arrive
  while (static_cast<std::uint32_t>(barrier.turn.load(std::memory_order_acquire) >> 32) == phase) {
    if (barrier.threads <= machine::cpu_count() && machine::cycles() - start < spin_budget) {
      machine::relax();
    } else {
      machine::park_high(barrier.turn, phase);
    }
  }
  observe::detail::condition_waited(barrier.site, machine::cycles() - start);
}

int wait(barrier_state& barrier) noexcept {
  barrier.inside.fetch_add(1, std::memory_order_relaxed);             // relaxed: ordered by the arrival below
  std::uint64_t turn = barrier.turn.load(std::memory_order_relaxed);  // relaxed: the exchange decides
  std::uint64_t next;
  bool last;
  do {
    last = static_cast<std::uint32_t>(turn) + 1 == barrier.threads;
    next = last ? (turn | 0xFFFF'FFFF) + 1 : turn + 1;
    // acq_rel: the last thread passes on what each did before
  } while (!barrier.turn.compare_exchange_weak(turn, next, std::memory_order_acq_rel, std::memory_order_relaxed));
  if (last) {
    machine::unpark_high(barrier.turn, machine::everyone);
  } else {
    wait_for_others(barrier, static_cast<std::uint32_t>(turn >> 32));
  }
  barrier.inside.fetch_sub(1, std::memory_order_release);  // the last access; pairs with the acquire in destroy
  return last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

}  // namespace

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

using namespace txsync;
using namespace txsync::preload;

TXSYNC_INTERPOSE int pthread_barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes,
                                          unsigned threads) noexcept {
  const int status = next().barrier_init(barrier, attributes, threads);
  if (status != 0) return status;
  barrier_state& state = state_of(barrier);
  const site_answer answer = find_site(object_kind::barrier, barrier);
  const std::uint32_t site = answer.policy.counting ? answer.site : 0;
  if (state.process_shared != 0 || answer.policy.lock == policy::lock_kind::libc) {
    state.site = site;
    state.is_left = true;
    return 0;
  }
  new (&state) barrier_state{
      .turn = 0, .threads = threads, .process_shared = 0, .inside = 0, .unused = 0, .site = site, .is_left = false};
  return 0;
}

TXSYNC_INTERPOSE int pthread_barrier_destroy(pthread_barrier_t* barrier) noexcept {
  barrier_state& state = state_of(barrier);
  if (is_foreign(state)) return next().barrier_destroy(barrier);
  // relaxed: nobody may arrive any more
  if (static_cast<std::uint32_t>(state.turn.load(std::memory_order_relaxed)) != 0) return EBUSY;
  // The barrier may be destroyed as soon as one thread has returned from it. The others are on their way out.
  while (state.inside.load(std::memory_order_acquire) != 0) machine::yield();  // pairs with the release in wait()
  return 0;
}

TXSYNC_INTERPOSE int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  barrier_state& state = state_of(barrier);
  if (!is_foreign(state)) return wait(state);
  const std::uint32_t site = state.is_left ? state.site : 0;  // the thread that returns may find it destroyed
  const std::uint64_t start = machine::cycles();
  const int status = next().barrier_wait(barrier);
  // The last thread to arrive gets this result. It has not waited.
  if (status != PTHREAD_BARRIER_SERIAL_THREAD) observe::detail::condition_waited(site, machine::cycles() - start);
  return status;
}

TXSYNC_MOVED_IN_2_34(pthread_barrier_init, TXSYNC_GLIBC_FIRST);
TXSYNC_MOVED_IN_2_34(pthread_barrier_destroy, TXSYNC_GLIBC_FIRST);
TXSYNC_MOVED_IN_2_34(pthread_barrier_wait, TXSYNC_GLIBC_FIRST);

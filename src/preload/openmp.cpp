// SPDX-License-Identifier: Apache-2.0
// The barrier of OpenMP programs that GCC has compiled, as a warm_barrier (always-abort paper, III-D and IV-B).
//
// A program starts a parallel region through GOMP_parallel. We put a function of ours between, so that the region's
// threads know their region. Some barriers of such a region are ours: `#pragma omp barrier`, and the end of a
// worksharing construct that GCC lays out itself (static loops, single). All others stay the OpenMP library's,
// including the barrier at the region's end.
//
// The library's barrier also runs the tasks that were made and are not done. So we notice when a thread makes a task,
// and in which phase it makes the first. From the barrier at the end of that phase on, the library's own barrier
// follows ours. Threads that wait at ours do no tasks. Regions that start later are left to the library altogether.
// With cancellation (OMP_CANCELLATION) everything is left to it.
#include <atomic>
#include <cstdint>
#include <limits>
#include <new>

#include <txsync/machine/attempt.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/speculate/warm_barrier.hpp>

#include "interpose.hpp"
#include "openmp.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();

/// What the threads of a parallel region share. Their number is known once they run. So the first thread at a barrier
/// makes it.
class region {
 public:
  bool take(void (*body)(void*), void* data) noexcept {
    bool free = false;
    // acquire: pairs with the release in give_back()
    if (!taken_.compare_exchange_strong(free, true, std::memory_order_acquire, std::memory_order_relaxed)) return false;
    body_ = body;
    data_ = data;
    // relaxed, twice: the library hands the region to its threads
    construction_.store(nothing, std::memory_order_relaxed);
    tasks_from_.store(never, std::memory_order_relaxed);
    return true;
  }
  void give_back() noexcept { taken_.store(false, std::memory_order_release); }  // pairs with the exchange in take()

  void run() noexcept { body_(data_); }

  warm_barrier& barrier(std::uint32_t threads) noexcept {
    // acquire: pairs with the release below
    while (construction_.load(std::memory_order_acquire) != all) {
      std::uint32_t none = nothing;
      // relaxed: only which thread is first matters
      if (construction_.compare_exchange_strong(none, begun, std::memory_order_relaxed)) {
        new (storage_) warm_barrier(threads);
        construction_.store(all, std::memory_order_release);
      } else {
        machine::yield();
      }
    }
    return *std::launder(reinterpret_cast<warm_barrier*>(storage_));
  }

  /// A thread that has passed that many barriers makes a task.
  void task_made(std::uint32_t phase) noexcept {
    // relaxed: the next barrier lies between this and a thread that asks for a phase that is not earlier
    std::uint32_t from = tasks_from_.load(std::memory_order_relaxed);
    while (phase < from && !tasks_from_.compare_exchange_weak(from, phase, std::memory_order_relaxed)) {
    }
  }
  bool has_tasks(std::uint32_t phase) const noexcept {
    return tasks_from_.load(std::memory_order_relaxed) <= phase;  // as above
  }

 private:
  enum : std::uint32_t { nothing, begun, all };

  alignas(warm_barrier) unsigned char storage_[sizeof(warm_barrier)] = {};
  std::atomic<bool> taken_{false};
  std::atomic<std::uint32_t> construction_{nothing};
  std::atomic<std::uint32_t> tasks_from_{never};
  void (*body_)(void*) = nullptr;
  void* data_ = nullptr;
};

/// A thread's place in the innermost region that we know of.
struct membership {
  region* in = nullptr;
  int level = 0;            ///< of nesting, in that region
  std::uint32_t phase = 0;  ///< barriers passed
};

constinit region regions[64];  // at a time; the library keeps further ones
constinit std::atomic<bool> tasks_seen{false};
constinit thread_local membership my_region;

/// In an attempt that runs ahead of a barrier: what comes now ends it.
void end_attempt() noexcept {
  if (machine::warm_active()) machine::abort<machine::attempt_status::code_fall_back>();
}

region* take_region(void (*body)(void*), void* data) noexcept {
  // relaxed: it does not matter whether one region more or less is served
  if (!serves_barriers() || tasks_seen.load(std::memory_order_relaxed) || openmp().cancellation() != 0) return nullptr;
  for (region& one : regions) {
    if (one.take(body, data)) return &one;
  }
  return nullptr;
}

void run_member(void* raw) noexcept {
  auto& entered = *static_cast<region*>(raw);
  const membership outer = my_region;
  my_region = {&entered, openmp().level(), 0};
  entered.run();
  end_attempt();
  my_region = outer;
}

bool is_in_known_region() noexcept { return my_region.in != nullptr && openmp().level() == my_region.level; }

void wait_at_barrier() noexcept {
  const int threads = openmp().num_threads();
  if (!is_in_known_region() || threads < 2) return openmp().barrier();
  region& current = *my_region.in;
  const std::uint32_t phase = my_region.phase;
  (void)current.barrier(static_cast<std::uint32_t>(threads)).arrive_and_wait();
  my_region.phase = phase + 1;
  if (machine::warm_active()) return;
  if (current.has_tasks(phase)) openmp().barrier();
}

void task_made() noexcept {
  end_attempt();
  if (my_region.in == nullptr) return;
  my_region.in->task_made(my_region.phase);
  tasks_seen.store(true, std::memory_order_relaxed);  // relaxed: see take_region()
}

}  // namespace

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

using namespace txsync::preload;

TXSYNC_INTERPOSE void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags) {
  end_attempt();
  region* const served = take_region(body, data);
  if (served == nullptr) return openmp().parallel(body, data, threads, flags);
  openmp().parallel(run_member, served, threads, flags);
  served->give_back();
}

TXSYNC_INTERPOSE void GOMP_barrier() {
  end_attempt();
  wait_at_barrier();
}

// The functions that make tasks, now or after the barrier.
#define TXSYNC_MAKES_TASKS(name, member)                                                                             \
  TXSYNC_INTERPOSE long name(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, \
                             long l) {                                                                               \
    task_made();                                                                                                     \
    return openmp().member(a, b, c, d, e, f, g, h, i, j, k, l);                                                      \
  }
TXSYNC_MAKES_TASKS(GOMP_task, task)
TXSYNC_MAKES_TASKS(GOMP_taskloop, taskloop)
TXSYNC_MAKES_TASKS(GOMP_taskloop_ull, taskloop_ull)
TXSYNC_MAKES_TASKS(GOMP_target_ext, target)
TXSYNC_MAKES_TASKS(GOMP_target_update_ext, target_update)
TXSYNC_MAKES_TASKS(GOMP_target_enter_exit_data, target_data)
#undef TXSYNC_MAKES_TASKS

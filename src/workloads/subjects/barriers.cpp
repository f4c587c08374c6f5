// SPDX-License-Identifier: Apache-2.0
// Our barriers, and one as OpenMP programs have it. They are subjects of trisolve, which has no locks.
#include <txsync/barrier.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/speculate/warm_barrier.hpp>

#include "workloads/subjects/make_barrier.hpp"
#include "workloads/subjects/subjects.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

/// A barrier like that of GCC's libgomp. The number of threads that are still to arrive is on its own line. Waiters
/// look for a new generation 300,000 times before they sleep, or 1000 times if there are more threads than CPUs.
class libgomp_barrier {
 public:
  explicit libgomp_barrier(std::uint32_t threads) noexcept : threads_(threads), awaited_(threads) {}

  void arrive_and_wait() noexcept {
    // acquire: pairs with the release below, so that the phase before is over for this thread
    const std::uint32_t mine = generation_.load(std::memory_order_acquire);
    // acq_rel: the last thread hands on what each one did before
    if (awaited_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      awaited_.store(threads_, std::memory_order_relaxed);  // relaxed: published by the generation
      generation_.store(mine + 1, std::memory_order_release);
      machine::unpark(generation_, machine::everyone);
      return;
    }
    for (std::uint32_t looks = threads_ > machine::cpu_count() ? 1'000 : 300'000; looks != 0; --looks) {
      if (generation_.load(std::memory_order_acquire) != mine) return;  // pairs with the release above
      machine::relax();
    }
    while (generation_.load(std::memory_order_acquire) == mine) machine::park(generation_, mine);  // likewise
  }

 private:
  alignas(machine::pad_bytes) const std::uint32_t threads_;
  std::atomic<std::uint32_t> generation_{0};
  alignas(machine::pad_bytes) std::atomic<std::uint32_t> awaited_;
};

/// warm_barrier with a body, for machines without always-abort attempts.
class bodied_warm_barrier : public warm_barrier {
 public:
  using warm_barrier::warm_barrier;
  static constexpr bool takes_body = true;
};

constexpr bool peer = false;
constexpr subject table[] = {
    make_barrier_subject<barrier>("txsync::barrier", peer, "spinning, then sleep"),
    make_barrier_subject<warm_barrier>("warm_barrier", peer, "waiters run ahead in always-abort attempts"),
    make_barrier_subject<bodied_warm_barrier>("bodied_warm_barrier", peer,
                                              "the same; without such attempts waiters fetch what a body names"),
    make_barrier_subject<libgomp_barrier>("libgomp_barrier", peer, "as GCC's OpenMP has it: long spinning, then sleep"),
};

}  // namespace

std::span<const subject> barrier_subjects() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

// SPDX-License-Identifier: Apache-2.0
#include <txsync/barrier.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/thread.hpp>

namespace txsync::inline TXSYNC_BACKEND {

namespace {
constexpr std::uint64_t spin_budget = 60'000;  // cycles
}  // namespace

bool barrier::arrive_and_wait() noexcept {
  // relaxed: cannot change before this thread has arrived
  const std::uint32_t mine = generation_.load(std::memory_order_relaxed);
  // acq_rel: release for what this thread did before, acquire so that the last one hands it all on
  if (awaited_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    awaited_.store(threads_, std::memory_order_relaxed);  // relaxed: published by the generation
    // seq_cst: release for what all did before, and ordered before the look at the sleepers (against the count below)
    generation_.store(mine + 1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) != 0) machine::unpark(generation_, machine::everyone);
    return true;
  }
  if (threads_ <= machine::cpu_count()) {
    const std::uint64_t start = machine::cycles();
    while (machine::cycles() - start < spin_budget) {
      if (generation_.load(std::memory_order_acquire) != mine) return false;  // pairs with the store above
      machine::relax();
    }
  }
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  while (generation_.load(std::memory_order_seq_cst) == mine) machine::park(generation_, mine);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: too high a count costs a system call
  return false;
}

}  // namespace txsync::inline TXSYNC_BACKEND

// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <txsync/barrier.hpp>
#include <txsync/machine/assert.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/environment.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/thread.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

namespace {
constexpr std::uint64_t spin_budget = 60'000;  // cycles
}  // namespace

void barrier::refuse_count() noexcept {
  constexpr char text[] = "txsync: a barrier for 0 threads or more than 2^31; allowed: 1 to 2^31\n";
  machine::complain(text, sizeof text - 1);
  std::abort();
}

barrier::arrival barrier::arrive() noexcept {
  machine::annotate_unseen_release(&generation_);
  TXSYNC_ASSERT(awaited_.load(std::memory_order_relaxed) != 0, "no more threads arrive than the barrier is for");
  // relaxed: cannot change before this thread has arrived
  const std::uint32_t mine = generation_.load(std::memory_order_relaxed);
  // acq_rel: release for what this thread did before; acquire so that the last thread hands all of that on
  if (awaited_.fetch_sub(1, std::memory_order_acq_rel) != 1) return {mine, false};
  awaited_.store(threads_, std::memory_order_relaxed);  // relaxed: published by the generation
  // seq_cst: releases what all threads did before; ordered before the read of the sleepers (against the count below)
  generation_.store(mine + 1, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) != 0) machine::unpark(generation_, machine::everyone);
  machine::annotate_unseen_acquire(&generation_);
  return {mine, true};
}

bool barrier::has_cpu_for_each() const noexcept { return threads_ <= machine::cpu_count(); }

void barrier::wait_until_over(std::uint32_t generation) noexcept {
  if (!spin(generation)) sleep(generation);
  machine::annotate_unseen_acquire(&generation_);
}

/// False: the barrier's phase is not over yet.
bool barrier::spin(std::uint32_t generation) const noexcept {
  if (!has_cpu_for_each()) return false;
  const std::uint64_t start = machine::cycles();
  while (machine::cycles() - start < spin_budget) {
    if (is_over(generation)) return true;
    machine::relax();
  }
  return false;
}

void barrier::sleep(std::uint32_t generation) noexcept {
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  while (generation_.load(std::memory_order_seq_cst) == generation) machine::park(generation_, generation);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: too high a count costs a system call
}

bool barrier::arrive_and_wait() noexcept {
  const arrival mine = arrive();
  if (!mine.last) wait_until_over(mine.generation);
  return mine.last;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <txsync/barrier.hpp>
#include <txsync/export.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/speculate/warm_up.hpp>

namespace txsync::inline TXSYNC_BACKEND {

/// A barrier whose early threads run ahead into the next phase while they wait, to warm it up (always-abort paper,
/// III-D).
///
/// What it does: a thread that has to wait returns in an always-abort attempt, as if all had arrived, and goes on with
/// what comes behind the barrier. Nothing that it stores there is ever seen; what it loads is in its caches when the
/// phase begins for it. The attempt watches the word that opens the next phase, so that the opening aborts it at once,
/// and the thread is back in arrive_and_wait(), which then returns for good. An attempt that ends earlier is followed
/// by another one, `tries` in all, unless it had run out of room, or had come to the next barrier: what can be warm is.
/// Then the thread waits as at a `barrier`. So it does from the beginning where there are no always-abort attempts
/// (machine::htm().always_abort), and while the machine has not a CPU for each thread of the barrier.
/// Requires: as barrier; and that what comes behind the barrier bears being run too early, its stores taken back:
/// it may loop without an end (the opening of the phase ends it), call the system or fault (which ends the attempt).
/// machine::warm_active() tells code that should not be run ahead; it ends the attempt with machine::abort().
/// Arriving within any attempt ends that attempt: nobody else would see the arrival. A section of an elided lock then
/// comes again with its lock taken.
/// Cost: that of barrier, and a load where there are no attempts. Elsewhere an attempt that is aborted delays the
/// waiter's leaving by some 150 cycles.
/// Thread-safe; constant-initialised; 256 bytes. Errors: none.
class warm_barrier : private barrier {
 public:
  static constexpr std::uint32_t default_tries = 4;  ///< as the paper's locks; docs/workloads/trisolve.md has others

  constexpr explicit warm_barrier(std::uint32_t threads, std::uint32_t tries = default_tries) noexcept
      : barrier(threads), tries_(tries) {}

  /// As barrier::arrive_and_wait(). In an attempt it answers false.
  TXSYNC_EXPORT bool arrive_and_wait() noexcept;

  /// The same; where there are no always-abort attempts, the waiter runs warm(memory) once, over a warm_memory
  /// (warm_up.hpp, where the contract for such bodies stands), to fetch what the next phase will touch. It ends early
  /// when the phase opens.
  template <class Warm>
  bool arrive_and_wait(const Warm& warm) noexcept {
    if (machine::htm().always_abort) return arrive_and_wait();
    const arrival mine = arrive();
    if (mine.last) return true;
    if (tries_ != 0 && has_cpu_for_each() && !is_over(mine.generation)) {
      const lock_wait wait{opened, this, mine.generation, 1};
      warm_memory memory(wait, warm_up_presets::standard.most_accesses);
      detail::warm_call_of<Warm> call(warm);
      call.memory = &memory;
      (void)detail::run_warm(call);
    }
    wait_until_over(mine.generation);
    return false;
  }

 private:
  static bool opened(const void* door, std::uint64_t generation) noexcept {
    return static_cast<const warm_barrier*>(door)->is_over(static_cast<std::uint32_t>(generation));
  }
  bool run_ahead(std::uint32_t generation) noexcept;

  std::uint32_t tries_;
};

}  // namespace txsync::inline TXSYNC_BACKEND

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <txsync/barrier.hpp>
#include <txsync/export.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/speculate/warm_up.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

/// A barrier whose early threads run ahead into the next phase while they wait, to warm it up (always-abort paper,
/// III-D).
///
/// What it does: a thread that has to wait returns in an always-abort attempt, as if all threads had arrived. It goes
/// on with the code after the barrier. None of its stores there becomes visible; what it loads is in its caches when
/// the phase begins for it. The attempt reads the word that opens the next phase, so the opening aborts it at once. The
/// thread is then back in arrive_and_wait(), which returns for good.
/// An attempt that ends earlier is followed by another one, `tries` in all. If the attempt ran out of room or came to
/// the next barrier, there is no other one: what can be warm is warm. The thread then waits as at a `barrier`. It does
/// so from the beginning if there are no always-abort attempts (machine::htm().always_abort), or while the machine has
/// fewer CPUs than the barrier has threads.
/// Requires: as barrier. The code after the barrier also tolerates an early run whose stores are undone. It may loop
/// without an end (the opening of the phase ends it), call the system, or fault (both end the attempt). Code that must
/// not run ahead asks machine::warm_active(), and ends the attempt by machine::abort().
/// If a thread arrives within any attempt, it ends that attempt, because no other thread would see the arrival. A
/// section of an elided lock then runs again with its lock taken.
/// Cost: that of barrier, and a load if there are no attempts. Otherwise an aborted attempt delays the waiter by some
/// 150 cycles.
/// Errors: none. Thread-safe; constant-initialised; 256 bytes.
class warm_barrier : private barrier {
 public:
  static constexpr std::uint32_t default_tries = 4;  ///< as the paper's locks; docs/workloads/trisolve.md has others

  constexpr explicit warm_barrier(std::uint32_t threads, std::uint32_t tries = default_tries) noexcept
      : barrier(threads), tries_(tries) {}

  /// As barrier::arrive_and_wait(). Returns false in an attempt.
  TXSYNC_EXPORT bool arrive_and_wait() noexcept;

  /// The same. If there are no always-abort attempts, the waiter runs warm(memory) once, over a warm_memory, to fetch
  /// what the next phase will touch. That run ends early when the phase opens. (warm_up.hpp has the contract for such
  /// bodies.)
  template <class Warm>
  bool arrive_and_wait(const Warm& warm) noexcept {
    if (machine::htm().always_abort) return arrive_and_wait();
    const arrival mine = arrive();
    if (mine.last) return true;
    if (tries_ != 0 && has_cpu_for_each() && !is_over(mine.generation)) {
      const lock_wait wait{opened, this, mine.generation, 1};
      warm_memory memory(wait, warm_up_presets::standard.max_accesses);
      detail::warm_call_of<Warm> call(warm);
      call.memory = &memory;
      (void)detail::run_warm(call);
    }
    wait_until_over(mine.generation);
    return false;
  }

 private:
  static bool opened(const void* phases, std::uint64_t generation) noexcept {
    return static_cast<const warm_barrier*>(phases)->is_over(static_cast<std::uint32_t>(generation));
  }
  bool run_ahead(std::uint32_t generation) noexcept;

  std::uint32_t tries_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND

// SPDX-License-Identifier: Apache-2.0
// Barriers: no thread leaves a phase early, and running ahead of a barrier leaves no effect.
#include <atomic>

#include <txsync/barrier.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/speculate/warm_barrier.hpp>

#include "explorations/exploration.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {

template <unsigned threads, unsigned phases, class Barrier = barrier>
struct barrier_test {
  Barrier barrier{threads};
  std::uint32_t arrived[threads] = {};
  std::uint32_t lasts[threads] = {};
  bool early = false;

  static void body(barrier_test& me, unsigned index) {
    for (unsigned phase = 1; phase <= phases; ++phase) {
      me.arrived[index] = phase;
      if (me.barrier.arrive_and_wait()) ++me.lasts[index];
      for (const std::uint32_t one : me.arrived) me.early = me.early || one < phase;
    }
  }
  const char* check() const {
    std::uint32_t sum = 0;
    for (const std::uint32_t one : lasts) sum += one;
    if (early) return "a thread passed the barrier before all had arrived";
    return sum != phases ? "not exactly one thread was the last of a phase" : nullptr;
  }
};

/// A seeded fault: a thread that has to wait runs ahead in an attempt that can commit.
class stray_barrier : private barrier {
 public:
  explicit stray_barrier(std::uint32_t threads) noexcept : barrier(threads) {}

  bool arrive_and_wait() noexcept {
    if (machine::active()) machine::abort<machine::attempt_status::code_fall_back>();
    const arrival mine = arrive();
    if (mine.last) return true;
    if (machine::begin().started()) {
      if (!is_over(mine.generation)) return false;
      machine::abort<machine::attempt_status::code_lock_busy>();
    }
    wait_until_over(mine.generation);
    return false;
  }
};

/// What a thread that runs ahead may meet.
enum class meeting : std::uint8_t {
  endless_loop,  ///< if the others have not got that far yet
  stray_commit,  ///< a jump to the instruction that commits (always-abort paper, Fig. 1)
};

/// In each phase, each thread sums what all threads left in the phase before. A phase that begins too early, or runs
/// twice, leaves another sum.
template <class Barrier, unsigned threads, unsigned phases, meeting what>
struct running_ahead_test {
  Barrier barrier{threads};
  alignas(64) std::uint32_t left[2][threads] = {};  // of the phase before, and of this one
  std::uint32_t steps[threads] = {};

  static void one_phase(running_ahead_test& me, unsigned index, unsigned phase) {
    if (what == meeting::stray_commit && machine::active()) machine::end();
    std::uint32_t sum = index + 1;
    for (const std::uint32_t one : me.left[phase % 2]) sum += one;
    me.left[(phase + 1) % 2][index] = sum;
    ++me.steps[index];
    for (const std::uint32_t& one : me.steps) {
      while (what == meeting::endless_loop && machine::active() && one < phase) machine::relax();
    }
  }
  static void body(running_ahead_test& me, unsigned index) {
    for (unsigned phase = 0; phase < phases; ++phase) {
      one_phase(me, index, phase);
      me.barrier.arrive_and_wait();
    }
  }
  const char* check() const {
    std::uint32_t wanted = 0;  // sum over all threads, after each phase
    for (unsigned phase = 0; phase < phases; ++phase) wanted = threads * wanted + threads * (threads + 1) / 2;
    std::uint32_t sum = 0;
    for (const std::uint32_t one : left[phases % 2]) sum += one;
    for (const std::uint32_t one : steps) {
      if (one != phases) return "a thread did not run each phase once";
    }
    return sum != wanted ? "a thread read what the phase before had not yet written" : nullptr;
  }
};

constexpr unsigned sleeps = 1;
constexpr auto right = verdict::right;

constexpr exploration table[] = {
    {"barrier", "2 threads x 3 phases", right, run_anew<barrier_test<2, 3>, 2>},
    {"barrier-3", "3 threads x 2 phases", right, run_anew<barrier_test<3, 2>, 3>},
    {"barrier-sleeping", "3 threads x 2 phases, told that there is one CPU", right, run_anew<barrier_test<3, 2>, 3>,
     sleeps},
    {"warm_barrier", "2 threads x 3 phases", right, run_anew<barrier_test<2, 3, warm_barrier>, 2>},
    {"warm_barrier-3", "3 threads x 2 phases", right, run_anew<barrier_test<3, 2, warm_barrier>, 3>},
    {"warm_barrier-sleeping", "3 threads x 2 phases, told that there is one CPU", right,
     run_anew<barrier_test<3, 2, warm_barrier>, 3>, sleeps},
    {"warm_barrier-ahead", "2 threads run ahead into loops without an end, 3 phases", right,
     run_anew<running_ahead_test<warm_barrier, 2, 3, meeting::endless_loop>, 2>},
    {"warm_barrier-ahead-3", "3 threads, 2 phases", right,
     run_anew<running_ahead_test<warm_barrier, 3, 2, meeting::endless_loop>, 3>},
    {"warm_barrier-stray", "2 threads run ahead into what commits, 3 phases", right,
     run_anew<running_ahead_test<warm_barrier, 2, 3, meeting::stray_commit>, 2>},
    {"seeded:stray-barrier", "a barrier that runs ahead in attempts that can commit", verdict::broken,
     run_anew<running_ahead_test<stray_barrier, 2, 3, meeting::stray_commit>, 2>},
};

}  // namespace

std::span<const exploration> phase_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations

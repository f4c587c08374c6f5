// SPDX-License-Identifier: Apache-2.0
// Threads that do operations together and count them. A workload's body is a function that each thread runs:
//
//   template <class Adapter>
//   void body(worker& me, shared_state<Adapter>& shared) {
//     ... what the thread needs for itself ...
//     me.wait_for_start();
//     while (me.more()) {
//       ... draw what to do ...
//       const bool timed = me.begin();
//       lock
//       me.entered(timed);
//       work, unlock
//       me.finish();
//     }
//     me.tally(0) = ...;   // what the check of the result needs
//   }
//   const team_result result = run_team<body<Adapter>>(how, shared);
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/thread.hpp>

#include "workloads/harness/random.hpp"
#include "workloads/harness/stamps.hpp"
#include "workloads/harness/wait_clock.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

/// What all threads of a team read. Each is on its own lines, because one is written while the others are read.
struct team_signals {
  alignas(machine::pad_bytes) std::atomic<std::uint32_t> ready{0};
  alignas(machine::pad_bytes) std::atomic<bool> open{false};
  alignas(machine::pad_bytes) std::atomic<bool> stop{false};
  std::atomic<bool> measuring{false};
};

/// One thread of a team, alone on its cache lines. Used by its own thread; the caller of run_team() reads the count.
class alignas(machine::pad_bytes) worker {
 public:
  static constexpr unsigned tallies = 4;

  worker() noexcept = default;
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  unsigned index() const noexcept { return index_; }
  /// The thread's own random numbers. The same seed and index give the same numbers.
  random_stream random() const noexcept { return random_stream(seed_, index_); }

  /// Call it once, when the thread has prepared everything. All threads return from it together.
  void wait_for_start() noexcept;

  /// Whether the thread has to do another operation.
  bool more() noexcept {
    if (done() == turn_) [[unlikely]]
      return turn();
    return !signals_->stop.load(std::memory_order_relaxed);  // relaxed: it guards no data, join() orders the results
  }

  /// For operations too short for a check before each. Returns how many to do now, at most `most`; 0 at the end.
  std::uint64_t take(std::uint64_t most) noexcept {
    if (!more()) return 0;
    if (sampling_) return 1;
    const std::uint64_t left = turn_ - done();
    return left < most ? left : most;
  }

  /// Call before lock() and after unlock(). Counts operations and measures the sampled ones. True for a sampled one.
  bool begin() noexcept {
    const bool timed = sampling_;
    if (timed) [[unlikely]]
      begin_sample();
    return timed;
  }
  /// Call after lock(). `timed` is the result of begin(). The caller keeps it, so that a section without a sample reads
  /// no memory. May run in an attempt. Operations that take several locks call ask() before each lock except the first.
  void entered(bool timed) noexcept {
    if (timed) [[unlikely]] {
      waited_ += machine::cycles() - asked_;
      entered_ = true;
    }
  }
  void ask(bool timed) noexcept {
    if (timed) [[unlikely]]
      asked_ = machine::cycles();
  }
  void finish(std::uint64_t operations = 1) noexcept {
    if (sampling_) [[unlikely]]
      keep_sample();
    // relaxed: only this thread writes, and the caller of run_team() reads a number that guards no other data
    done_.store(done() + operations, std::memory_order_relaxed);
  }

  /// Computes for a while: each step depends on the one before (xorshift, Marsaglia 2003). About 1 ns per step.
  /// Simulated machines do not charge it.
  void think(std::uint64_t steps) noexcept {
    for (; steps != 0; --steps) {
      thought_ ^= thought_ << 13;
      thought_ ^= thought_ >> 7;
      thought_ ^= thought_ << 17;
    }
  }

  /// Numbers for the check of the result. team_result has their sums.
  std::uint64_t& tally(unsigned which) noexcept { return tallies_[which]; }

 private:
  friend class team;

  std::uint64_t done() const noexcept { return done_.load(std::memory_order_relaxed); }  // as in finish()
  bool turn() noexcept;
  void begin_sample() noexcept;
  void keep_sample() noexcept;
  std::uint64_t ns_of(std::uint64_t cycles) const noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(cycles) * ns_per_cycle_);
  }
  static void run(void* raw) noexcept;

  // Used by every operation.
  std::atomic<std::uint64_t> done_{0};
  std::uint64_t turn_ = 0;  ///< at this count, turn() decides: end the run, make a stamp, or sample the next operation
  team_signals* signals_ = nullptr;
  bool sampling_ = false;
  std::uint64_t begun_ = 0;
  std::uint64_t thought_ = 0x2545F4914F6CDD1D;

  // Set before the thread starts.
  const plan* how_ = nullptr;
  void (*body_)(worker& me, void* shared) = nullptr;
  void* shared_ = nullptr;
  std::uint64_t limit_ = 0;
  std::uint64_t seed_ = 0;
  double ns_per_cycle_ = 0;
  unsigned index_ = 0;

  // Read after the thread has ended.
  bool pin_refused_ = false;
  std::uint64_t started_cycles_ = 0;
  std::uint64_t ended_cycles_ = 0;
  std::uint64_t ended_ns_ = 0;
  std::uint64_t tallies_[tallies] = {};
  latency_histogram latency_;

  // Of the caller.
  std::uint64_t before_ = 0;  ///< operations before the measured phase
  machine::thread thread_;

  // Of the sampled operation, in cycles.
  std::uint64_t asked_ = 0;
  std::uint64_t waited_ = 0;
  bool entered_ = false;
  wait_record* waits_ = nullptr;  ///< null unless every operation is sampled

  stamp_log* stamps_ = nullptr;  ///< null: none are wanted
};

/// What a thread does between two sections: fences, because computing costs nothing on simulated machines. It is half
/// to one and a half times the requested number, so that threads do not fall into step.
inline void work_outside(std::uint64_t fences, random_stream& random) noexcept {
  if (fences == 0) return;
  for (std::uint64_t left = fences / 2 + random.below(fences + 1); left != 0; --left) machine::fence();
}

struct team_result {
  /// The outcome after the check of the result. `complaint` is null or a fault; a fault of the team takes precedence.
  outcome checked(const char* complaint, std::uint64_t end_hash) noexcept {
    if (seen.fault == nullptr) seen.fault = complaint;
    seen.end_hash = end_hash;
    return seen;
  }

  outcome seen;                                 ///< has a fault if the team could not run
  std::uint64_t all_operations = 0;             ///< including those of the run-in and after the end
  std::uint64_t tallies[worker::tallies] = {};  ///< sums over the threads
};

using erased_body = void (*)(worker& me, void* shared);
team_result run_erased_team(const plan& how, erased_body body, void* shared) noexcept;

/// Runs the body in how.threads threads and waits for them; the calling thread sleeps meanwhile. Requires: the plan is
/// in range, see complaint().
template <auto Body, class Shared>
team_result run_team(const plan& how, Shared& shared) noexcept {
  return run_erased_team(how, [](worker& me, void* raw) { Body(me, *static_cast<Shared*>(raw)); }, &shared);
}

/// An outcome that only says why nothing was run.
inline outcome refused(const char* why) noexcept {
  outcome nothing;
  nothing.fault = why;
  return nothing;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

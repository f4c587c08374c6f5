// SPDX-License-Identifier: Apache-2.0
// The barrier whose waiters run ahead, on the scripted machine: when they do, what ends it, and when they leave it be.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <machine/scripted/script.hpp>
#include <speculate/scoped_site.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/speculate/elided.hpp>
#include <txsync/speculate/warm_barrier.hpp>

#include "unlearnt.hpp"

namespace {

namespace machine = txsync::machine;
using machine::attempt_status;
using txsync::warm_barrier;
using txsync::script::machine_script;
using txsync::script::plan;

/// Arrives once it is told to.
class late_comer {
 public:
  explicit late_comer(warm_barrier& phase_barrier) : phase_barrier_(phase_barrier), thread_([this] { run(); }) {}
  ~late_comer() {
    come();
    thread_.join();
  }
  void come() { told_ = true; }
  /// In attempts as well: calls nothing of the seam.
  void come_and_go() {
    come();
    while (!through_) std::this_thread::yield();
  }
  bool was_last() {
    come_and_go();
    return last_;
  }

 private:
  void run() {
    while (!told_) std::this_thread::yield();
    last_ = phase_barrier_.arrive_and_wait();
    through_ = true;
  }

  warm_barrier& phase_barrier_;
  std::atomic<bool> told_{false};
  std::atomic<bool> through_{false};
  std::atomic<bool> last_{false};
  std::thread thread_;
};

/// What threads share is in the heap: an abort puts back all of a thread's stack.
class WarmBarriers : public testing::Test {
 protected:
  WarmBarriers() { have_unlearnt_rtm(script); }
  std::uint64_t warm_begins() const { return script.counted().warm_begins; }
  void make(std::uint32_t tries = warm_barrier::default_tries) {
    phase_barrier = std::make_unique<warm_barrier>(2, tries);
    other = std::make_unique<late_comer>(*phase_barrier);
  }
  void plan_conflicts(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      script.on_warm_begin(plan::aborts_at_step(1, attempt_status::conflict_bit | attempt_status::retry_bit));
    }
  }
  /// Arrives, and runs ahead until the other has arrived too, which the attempt is told by a conflict at its next step.
  void run_ahead_until_it_opens() {
    plan_conflicts(1);
    EXPECT_FALSE(phase_barrier->arrive_and_wait());
    if (!machine::warm_active()) return;
    ++runs_ahead;
    other->come_and_go();
    machine::relax();
    ADD_FAILURE() << "behind the abort";
  }

  machine_script script;
  std::unique_ptr<warm_barrier> phase_barrier;
  std::unique_ptr<late_comer> other;
  unsigned runs_ahead = 0;
};

TEST_F(WarmBarriers, TheLastRunsAheadOfNobody) {
  warm_barrier alone(1);
  EXPECT_TRUE(alone.arrive_and_wait());
  EXPECT_FALSE(machine::active());
  EXPECT_EQ(warm_begins(), 0U);
}

TEST_F(WarmBarriers, AWaiterRunsAheadUntilThePhaseOpens) {
  make();
  run_ahead_until_it_opens();
  EXPECT_FALSE(machine::active());
  EXPECT_EQ(runs_ahead, 1U);
  EXPECT_EQ(warm_begins(), 1U);
  EXPECT_TRUE(other->was_last());
}

TEST_F(WarmBarriers, TriesAsOftenAsItIsTold) {
  constexpr std::uint32_t tries = 3;
  make(tries);
  plan_conflicts(tries);
  EXPECT_FALSE(phase_barrier->arrive_and_wait());
  if (machine::warm_active()) {
    if (++runs_ahead == tries) other->come();
    machine::relax();
  }
  EXPECT_EQ(runs_ahead, tries);
  EXPECT_EQ(warm_begins(), tries);
}

TEST_F(WarmBarriers, NoTriesAreAPlainBarrier) {
  make(0);
  other->come();
  (void)phase_barrier->arrive_and_wait();
  EXPECT_EQ(warm_begins(), 0U);
}

TEST_F(WarmBarriers, TheNextBarrierEndsTheRun) {
  make();
  EXPECT_FALSE(phase_barrier->arrive_and_wait());
  if (machine::warm_active()) {
    ++runs_ahead;
    other->come();
    (void)phase_barrier->arrive_and_wait();
    ADD_FAILURE() << "behind the abort";
  }
  // All that lies between the two is warm: no other attempt.
  EXPECT_EQ(runs_ahead, 1U);
  EXPECT_EQ(warm_begins(), 1U);
}

TEST_F(WarmBarriers, NoRoomIsNotTriedAgain) {
  make();
  script.on_warm_begin(plan::aborts_at_step(1, attempt_status::capacity_bit));
  EXPECT_FALSE(phase_barrier->arrive_and_wait());
  if (machine::warm_active()) {
    other->come();
    machine::relax();
  }
  EXPECT_EQ(warm_begins(), 1U);
}

TEST_F(WarmBarriers, AHeldLockInsideIsTriedAgain) {
  make();
  EXPECT_FALSE(phase_barrier->arrive_and_wait());
  if (machine::warm_active()) {
    if (++runs_ahead == warm_barrier::default_tries) other->come();
    machine::abort<attempt_status::code_lock_busy>();
  }
  EXPECT_EQ(warm_begins(), warm_barrier::default_tries);
}

TEST_F(WarmBarriers, StoresOfTheScriptedMachineAsideNothingOfAPhaseIsDoneTwice) {
  make();
  run_ahead_until_it_opens();
  other = std::make_unique<late_comer>(*phase_barrier);
  run_ahead_until_it_opens();
  EXPECT_EQ(runs_ahead, 2U);
  EXPECT_TRUE(other->was_last());
}

TEST_F(WarmBarriers, WithoutWorkingAttemptsIsAPlainBarrier) {
  script.begin_is(txsync::script::begin_nature::always_aborts);
  make();
  other->come();
  (void)phase_barrier->arrive_and_wait();
  EXPECT_FALSE(machine::active());
  EXPECT_EQ(warm_begins(), 0U);
}

TEST_F(WarmBarriers, WithoutDeepNestingIsAPlainBarrier) {
  script.nesting_is(1);
  make();
  other->come();
  (void)phase_barrier->arrive_and_wait();
  EXPECT_EQ(warm_begins(), 0U);
}

TEST_F(WarmBarriers, WithoutAttemptsABodyIsRunUntilThePhaseOpens) {
  script.begin_is(txsync::script::begin_nature::always_aborts);
  make();
  static int data[1'000];
  unsigned loads = 0;
  unsigned bodies = 0;
  EXPECT_FALSE(phase_barrier->arrive_and_wait([&](txsync::warm_memory& memory) {
    ++bodies;
    for (int round = 0; !memory.over(); ++round) {
      loads += memory.load(data[round % 1'000]) == 0 ? 1 : 0;
      memory.store(data[0], 7);
      if (loads == 100) other->come_and_go();
    }
  }));
  EXPECT_EQ(bodies, 1U);
  EXPECT_GE(loads, 100U);
  EXPECT_LT(loads, 110U) << "it looks whether the wait is over";
  EXPECT_EQ(data[0], 0);
  EXPECT_GT(script.counted().prefetches_to_write, 0U);
  EXPECT_TRUE(other->was_last());
}

TEST_F(WarmBarriers, WithAttemptsABodyIsNotNeeded) {
  make();
  script.on_warm_begin(plan::aborts_at_step(1, attempt_status::capacity_bit));
  EXPECT_FALSE(
      phase_barrier->arrive_and_wait([](txsync::warm_memory&) { ADD_FAILURE() << "the phase itself is run"; }));
  if (machine::warm_active()) {
    other->come();
    machine::relax();
  }
  EXPECT_EQ(warm_begins(), 1U);
}

TEST_F(WarmBarriers, MoreThreadsThanCpusSleepAndDoNotRunAhead) {
  constexpr unsigned threads = 5;  // of a machine with four hardware threads
  constexpr unsigned phases = 20;
  warm_barrier shared(threads);
  std::atomic<unsigned> lasts{0};
  std::atomic<unsigned> arrived{0};
  std::atomic<bool> early{false};
  std::vector<std::thread> team;
  for (unsigned i = 0; i < threads; ++i) {
    team.emplace_back([&] {
      for (unsigned phase = 1; phase <= phases; ++phase) {
        ++arrived;
        if (shared.arrive_and_wait()) ++lasts;
        if (arrived < phase * threads) early = true;
      }
    });
  }
  for (std::thread& one : team) one.join();
  EXPECT_FALSE(early);
  EXPECT_EQ(lasts, phases);
  EXPECT_EQ(warm_begins(), 0U);
  EXPECT_EQ(script.counted().relaxes, 0U) << "nobody spins where somebody else wants the CPU";
}

TEST_F(WarmBarriers, ArrivingInAnElidedSectionTakesItsLock) {
  txsync::scoped_site place{txsync::elision_presets::eager};
  txsync::elided<txsync::tatas_lock> lock(place);
  warm_barrier alone(1);
  lock.lock();
  EXPECT_TRUE(alone.arrive_and_wait());
  EXPECT_FALSE(machine::active());
  EXPECT_EQ(script.counted().begins, script.counted().aborts);
  EXPECT_FALSE(lock.try_lock()) << "the section came again with the lock taken";
  lock.unlock();
}

TEST_F(WarmBarriers, ArrivingCommitsWhatCoarseningLeftOpen) {
  txsync::scoped_site place{txsync::elision_presets::xsync};
  txsync::elided<txsync::tatas_lock> lock(place);
  warm_barrier alone(1);
  constexpr unsigned enough_for_coarsening = 1'000;
  for (unsigned i = 0; i < enough_for_coarsening && !machine::active(); ++i) {
    lock.lock();
    lock.unlock();
  }
  ASSERT_TRUE(machine::active());
  const std::uint64_t before = script.counted().commits;
  EXPECT_TRUE(alone.arrive_and_wait());
  EXPECT_EQ(script.counted().commits, before + 1);
}

TEST(WarmBarrier, IsConstantInitialisedAndOfTheStatedSize) {
  const machine_script script;
  static constinit warm_barrier alone{1};
  for (int phase = 0; phase < 100; ++phase) ASSERT_TRUE(alone.arrive_and_wait());
  EXPECT_EQ(sizeof(warm_barrier), 256U);
}

}  // namespace

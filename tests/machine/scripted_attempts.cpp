// SPDX-License-Identifier: Apache-2.0
// Attempts of the scripted machine do what the script says, and come back to where they began.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <numeric>

#include <machine/scripted/script.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/file.hpp>
#include <txsync/machine/memory.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/restartable.hpp>
#include <txsync/machine/thread.hpp>

namespace {

namespace machine = txsync::machine;
using machine::attempt_status;
using txsync::abort_cause;
using txsync::script::begin_nature;
using txsync::script::machine_script;
using txsync::script::plan;

class ScriptedAttempts : public testing::Test {
 protected:
  ScriptedAttempts() { script.have_rtm(); }
  machine_script script;
};

// What an attempt does to memory that is not its stack stays done on this machine; tests note it here.
int notes = 0;

TEST_F(ScriptedAttempts, CommitByDefault) {
  EXPECT_TRUE(machine::htm().attempts);
  EXPECT_FALSE(machine::active());
  ASSERT_TRUE(machine::begin().started());
  EXPECT_TRUE(machine::active());
  EXPECT_EQ(machine::depth(), 1u);
  machine::end();
  EXPECT_FALSE(machine::active());
  EXPECT_EQ(script.counted().begins, 1u);
  EXPECT_EQ(script.counted().commits, 1u);
  EXPECT_EQ(script.counted().aborts, 0u);
}

TEST_F(ScriptedAttempts, AbortAtBegin) {
  script.on_begin({plan::aborts(attempt_status::conflict_bit | attempt_status::retry_bit), plan::commits(),
                   plan::aborts(attempt_status::capacity_bit)});
  EXPECT_EQ(script.begins_left(), 3u);
  const attempt_status first = machine::begin();
  EXPECT_EQ(first.cause(), abort_cause::conflict);
  EXPECT_TRUE(first.may_retry());
  ASSERT_TRUE(machine::begin().started());
  machine::end();
  EXPECT_EQ(machine::begin().cause(), abort_cause::capacity);
  EXPECT_EQ(script.begins_left(), 0u);
  EXPECT_EQ(script.counted().aborts, 2u);
}

TEST_F(ScriptedAttempts, AnExplicitAbortBringsItsCodeAndTheStackBack) {
  volatile int on_stack = 1;
  int kept_in_register = 10;
  notes = 0;
  const attempt_status status = machine::begin();
  if (status.started()) {
    on_stack = 2;
    kept_in_register += 5;
    notes = kept_in_register;
    machine::abort<0x21>();
    FAIL() << "an abort does not return";
  }
  EXPECT_TRUE(status.is_explicit());
  EXPECT_EQ(status.code(), 0x21);
  EXPECT_EQ(on_stack, 1);
  EXPECT_EQ(kept_in_register, 10);
  EXPECT_EQ(notes, 15) << "memory elsewhere is not undone";
  EXPECT_FALSE(machine::active());
}

[[gnu::noinline]] void abort_from_below(int levels) {
  volatile char padding[512];
  padding[0] = static_cast<char>(levels);
  if (levels == 0) {
    machine::abort<4>();
  } else {
    abort_from_below(levels - 1);
  }
  padding[1] = padding[0];
}

TEST_F(ScriptedAttempts, FromDeepCalls) {
  std::array<int, 64> before;
  std::iota(before.begin(), before.end(), 0);
  const attempt_status status = machine::begin();
  if (status.started()) {
    before.fill(-1);
    abort_from_below(20);
  }
  EXPECT_EQ(status.code(), 4);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(before[static_cast<std::size_t>(i)], i);
}

/// Locks by attempt as an elided lock does: the function that begins has returned when the abort comes.
struct elided_lock {
  int tries = 0;
  int fallbacks = 0;

  [[gnu::noinline]] bool lock() {
    for (int i = 0; i < 3; ++i) {
      ++tries;
      if (machine::begin().started()) return true;
    }
    ++fallbacks;
    return false;
  }
  [[gnu::noinline]] void unlock(bool elided) {
    if (elided) machine::end();
  }
};

TEST_F(ScriptedAttempts, TheFunctionThatBeganMayHaveReturned) {
  static elided_lock lock;  // not on the stack: keeps count through aborts
  lock = {};
  script.on_begin({plan::aborts_at_end(attempt_status::conflict_bit), plan::aborts(attempt_status::retry_bit),
                   plan::aborts_at_step(1, attempt_status::capacity_bit)});
  notes = 0;
  const bool elided = lock.lock();
  ++notes;
  (void)machine::cycles();
  lock.unlock(elided);
  EXPECT_FALSE(elided);
  EXPECT_EQ(lock.tries, 3);
  EXPECT_EQ(lock.fallbacks, 1);
  EXPECT_EQ(notes, 3) << "twice in an attempt, once with the lock";
  EXPECT_EQ(script.counted().aborts, 3u);
}

TEST_F(ScriptedAttempts, AbortAtTheNthStep) {
  notes = 0;
  script.on_begin(plan::aborts_at_step(3, attempt_status::interrupt_bit));
  const attempt_status status = machine::begin();
  if (status.started()) {
    machine::prefetch_read(&notes);
    notes = 1;
    EXPECT_TRUE(machine::active()) << "questions are no steps";
    machine::prefetch_write(&notes);
    notes = 2;
    machine::relax();
    notes = 3;
  }
  EXPECT_EQ(status.cause(), abort_cause::interrupt);
  EXPECT_EQ(notes, 2);
}

TEST_F(ScriptedAttempts, AbortAtTheEnd) {
  notes = 0;
  script.on_begin(plan::aborts_at_end(attempt_status::conflict_bit));
  const attempt_status status = machine::begin();
  if (status.started()) {
    notes = 1;
    machine::end();
    notes = 2;
  }
  EXPECT_EQ(status.cause(), abort_cause::conflict);
  EXPECT_EQ(notes, 1);
  EXPECT_EQ(script.counted().commits, 0u);
}

TEST_F(ScriptedAttempts, TheDefaultPlanHoldsWhenTheListIsUsedUp) {
  script.on_begin(plan::commits());
  script.on_begin_by_default(plan::aborts(attempt_status::conflict_bit));
  ASSERT_TRUE(machine::begin().started());
  machine::end();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(machine::begin().raw, attempt_status::conflict_bit);
}

TEST_F(ScriptedAttempts, NestingIsFlatAndLimited) {
  script.nesting_is(3);
  script.depth_is_told(true);
  const attempt_status outer = machine::begin();
  if (outer.started()) {
    ASSERT_TRUE(machine::begin().started());
    ASSERT_TRUE(machine::begin().started());
    EXPECT_EQ(machine::depth(), 3u);
    machine::end();
    EXPECT_EQ(machine::depth(), 2u);
    machine::end();
    machine::end();
  }
  EXPECT_TRUE(outer.started());
  static int inner_begins;
  inner_begins = 0;
  const attempt_status overflowing = machine::begin();
  if (overflowing.started()) {
    for (;;) {
      (void)machine::begin();
      ++inner_begins;
    }
  }
  EXPECT_EQ(overflowing.cause(), abort_cause::nested);
  EXPECT_EQ(inner_begins, 2);
  EXPECT_EQ(script.counted().begins, 2u) << "outermost ones";
}

TEST_F(ScriptedAttempts, AnInnerAbortGoesBackToTheOuterBegin) {
  notes = 0;
  const attempt_status outer = machine::begin();
  if (outer.started()) {
    const attempt_status inner = machine::begin();
    ++notes;
    if (inner.started()) machine::abort<6>();
  }
  EXPECT_EQ(outer.code(), 6);
  EXPECT_TRUE(outer.signals(abort_cause::nested));
  EXPECT_EQ(notes, 1);
}

TEST_F(ScriptedAttempts, SystemCallsAbort) {
  static std::atomic<std::uint32_t> word{0};
  static machine::lock_word wide{0};
  static machine::file file;
  static machine::thread thread;
  static void* page;
  page = machine::map_pages(machine::page_size());
  void (*const calls[])() = {
      [] { (void)machine::park(word, 0, 1); },
      [] { (void)machine::park_high(wide, 0, 1); },
      [] { (void)machine::unpark(word, 1); },
      [] { (void)machine::unpark_high(wide, 1); },
      [] { machine::yield(); },
      [] { machine::sleep_ns(1); },
      [] { machine::membarrier_releases(); },
      [] { (void)machine::map_pages(1); },
      [] { (void)machine::map_pages_twice(1); },
      [] { (void)machine::protect_pages(page, machine::page_size(), machine::page_rights::read_write); },
      [] { (void)machine::set_fault_handler(nullptr, nullptr); },
      [] { (void)thread.start([](void*) {}, nullptr); },
      [] { (void)machine::pin(0); },
      [] { (void)machine::file::open(file, "a", machine::open_mode::create); },
      [] { (void)machine::rename_file("a", "b"); },
      [] { (void)file.sync(); },
  };
  script.system_calls_abort_with(attempt_status::syscall_bit);
  int aborted = 0;
  for (void (*call)() : calls) {
    const attempt_status status = machine::begin();
    if (status.started()) {
      call();
      machine::end();
      ADD_FAILURE() << "a system call inside an attempt";
    }
    if (status.cause() == abort_cause::syscall) ++aborted;
  }
  EXPECT_EQ(aborted, static_cast<int>(std::size(calls)));
  EXPECT_FALSE(thread.joinable());
  EXPECT_FALSE(script.files().content("a").has_value());
  machine::unmap_pages(page, machine::page_size());
}

TEST_F(ScriptedAttempts, RollbackOnlyWhereThereIsOne) {
  EXPECT_EQ(machine::begin_rollback_only().raw, 0u);
  script.extras_are(false, false, true);
  EXPECT_TRUE(machine::htm().rollback_only);
  script.on_begin({plan::commits(), plan::aborts_at_end(attempt_status::capacity_write_bit)});
  ASSERT_TRUE(machine::begin_rollback_only().started());
  machine::end();
  const attempt_status status = machine::begin_rollback_only();
  if (status.started()) machine::end();
  EXPECT_EQ(status.cause(), abort_cause::capacity_write);
}

TEST_F(ScriptedAttempts, SuspendedTheyLiveThroughSystemCalls) {
  script.extras_are(false, true, false);
  EXPECT_TRUE(machine::htm().suspend);
  ASSERT_TRUE(machine::begin().started());
  machine::suspend();
  EXPECT_TRUE(machine::active());
  machine::yield();
  machine::resume();
  machine::end();
  EXPECT_EQ(script.counted().commits, 1u);

  notes = 0;
  const attempt_status status = machine::begin();
  if (status.started()) {
    machine::suspend();
    machine::abort<7>();
    notes = 1;  // an abort waits for the resumption
    machine::resume();
    notes = 2;
  }
  EXPECT_EQ(status.code(), 7);
  EXPECT_EQ(notes, 1);
}

TEST_F(ScriptedAttempts, SuspendWithoutTheFacilityDoesNothing) {
  const attempt_status status = machine::begin();
  if (status.started()) {
    machine::suspend();
    machine::yield();
    machine::resume();
  }
  EXPECT_EQ(status.cause(), abort_cause::unknown) << "the system call aborted it";
}

TEST_F(ScriptedAttempts, WarmAttemptsNeverCommit) {
  EXPECT_TRUE(machine::htm().always_abort);
  EXPECT_FALSE(machine::warm_active());
  notes = 0;
  const attempt_status status = machine::warm_begin();
  if (status.started()) {
    EXPECT_TRUE(machine::warm_active());
    machine::end();  // a stray one
    notes = machine::warm_active() ? 1 : 2;
    machine::abort<1>();
  }
  EXPECT_EQ(status.code(), 1);
  EXPECT_EQ(notes, 1);
  EXPECT_FALSE(machine::warm_active());
  script.on_warm_begin(plan::aborts_at_step(2, attempt_status::fault_bit));
  script.on_warm_begin(plan::aborts(attempt_status::interrupt_bit));
  const attempt_status faulting = machine::warm_begin();
  if (faulting.started()) {
    machine::relax();
    machine::relax();
  }
  EXPECT_EQ(faulting.cause(), abort_cause::fault);
  EXPECT_EQ(machine::warm_begin().cause(), abort_cause::interrupt);
  EXPECT_EQ(script.counted().warm_begins, 3u);
  EXPECT_EQ(script.counted().begins, 0u);
}

TEST_F(ScriptedAttempts, WarmAttemptsNeedDepth) {
  script.nesting_is(3);
  EXPECT_FALSE(machine::htm().always_abort);
  EXPECT_EQ(machine::warm_begin().cause(), abort_cause::nested);
}

TEST_F(ScriptedAttempts, HleElidesOnlyWhenTold) {
  static std::atomic<std::uint32_t> word;
  word = 0;
  EXPECT_EQ(machine::hle_acquire(word, 1), 0u);
  EXPECT_EQ(word.load(), 1u);
  EXPECT_FALSE(machine::active());
  machine::hle_release(word, 0);
  EXPECT_EQ(word.load(), 0u);
  EXPECT_EQ(script.counted().elisions, 0u);

  script.on_hle(plan::commits());
  EXPECT_EQ(machine::hle_acquire(word, 1), 0u);
  EXPECT_TRUE(machine::active());
  EXPECT_EQ(word.load(), 0u) << "others see a free lock";
  machine::hle_release(word, 0);
  EXPECT_FALSE(machine::active());
  EXPECT_EQ(script.counted().elisions, 1u);
  EXPECT_EQ(script.counted().elisions_ended, 1u);
}

TEST_F(ScriptedAttempts, AnElisionThatAbortsTakesTheLock) {
  static std::atomic<std::uint32_t> word;
  word = 0;
  notes = 0;
  script.on_hle(plan::aborts_at_end(attempt_status::conflict_bit));
  EXPECT_EQ(machine::hle_acquire(word, 1), 0u);
  ++notes;
  if (notes == 2) {
    EXPECT_EQ(word.load(), 1u);
  }
  machine::hle_release(word, 0);
  EXPECT_EQ(notes, 2);
  EXPECT_EQ(word.load(), 0u);

  notes = 0;
  script.on_hle(plan::commits());
  EXPECT_EQ(machine::hle_acquire(word, 1), 0u);
  ++notes;
  machine::hle_release(word, 5);  // not the value that was there: HLE gives up
  EXPECT_EQ(notes, 2);
  EXPECT_EQ(word.load(), 5u);
}

TEST_F(ScriptedAttempts, EachThreadHasItsOwn) {
  struct shared {
    std::atomic<unsigned> inside{0};
    std::atomic<unsigned> came_back{0};
  };
  static shared state;
  state.inside = state.came_back = 0;
  script.on_begin_by_default(plan::aborts_at_end(attempt_status::conflict_bit));
  machine::thread threads[4];
  for (machine::thread& one : threads) {
    ASSERT_TRUE(one.start(
        [](void*) {
          volatile int mine = 0;
          for (int i = 0; i < 1000; ++i) {
            const int before = mine;
            const attempt_status status = machine::begin();
            if (status.started()) {
              mine = before + 1;
              ++state.inside;
              machine::end();
            }
            if (status.raw == attempt_status::conflict_bit && mine == before) ++state.came_back;
          }
        },
        nullptr));
  }
  for (machine::thread& one : threads) one.join();
  EXPECT_EQ(state.inside, 4000u);
  EXPECT_EQ(state.came_back, 4000u);
  EXPECT_EQ(script.counted().aborts, 4000u);
}

// Beyond the snapshot an abort changes nothing: the stated limit.
TEST_F(ScriptedAttempts, TheSnapshotIsLimited) {
  struct big {
    volatile int near = 1;
    volatile char space[txsync::script::snapshot_bytes];
    volatile int far = 1;
  };
  big frame;
  frame.space[0] = 0;
  const attempt_status status = machine::begin();
  if (status.started()) {
    frame.near = 2;
    frame.far = 2;
    machine::abort<1>();
  }
  EXPECT_EQ(frame.near, 1);
  EXPECT_EQ(frame.far, 2);
}

TEST_F(ScriptedAttempts, AnAbortUndoesWhatWasStoredForIt) {
  static std::atomic<std::uint64_t> words[2];
  words[0] = 1;
  words[1] = 10;
  script.on_begin({plan::aborts_at_end(0), plan::commits(), plan::aborts_at_step(3, 0)});
  const auto store = [] {
    if (!machine::begin().started()) return false;
    machine::store_in_attempt(words[0], 2);
    machine::store_in_attempt(words[1], 20);
    machine::store_in_attempt(words[0], 3);
    machine::end();
    return true;
  };
  EXPECT_FALSE(store());
  EXPECT_EQ(words[0], 1u);
  EXPECT_EQ(words[1], 10u);
  EXPECT_TRUE(store());
  EXPECT_EQ(words[0], 3u);
  EXPECT_EQ(words[1], 20u);
  words[1] = 10;
  EXPECT_FALSE(store());
  EXPECT_EQ(words[0], 3u);
  EXPECT_EQ(words[1], 10u);
  machine::store_in_attempt(words[0], 5);  // outside of any
  EXPECT_EQ(words[0], 5u);
}

TEST_F(ScriptedAttempts, PlansInTurnComeOverAndOver) {
  script.on_begins_in_turn({plan::commits(), plan::aborts(attempt_status::conflict_bit)});
  script.on_begin(plan::aborts(attempt_status::capacity_bit));
  EXPECT_EQ(machine::begin().cause(), abort_cause::capacity);  // the list comes first
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(machine::begin().started());
    machine::end();
    EXPECT_EQ(machine::begin().cause(), abort_cause::conflict);
  }
}

/// The members of a team add to two words in attempts. In between they exclude attempts and read both words.
TEST_F(ScriptedAttempts, AskedForTheyExcludeEachOtherAndWhoAwaitsThem) {
  script.attempts_exclude_each_other();
  script.on_begins_in_turn({plan::commits(), plan::aborts_at_end(0)});
  static std::atomic<std::uint64_t> words[2];
  static std::atomic<bool> taken;  // attempts read it
  static std::atomic<unsigned> torn;
  static std::atomic<unsigned> committed;
  words[0] = words[1] = torn = committed = 0;
  taken = false;
  machine::thread threads[4];
  const auto add_or_look = [](void*) {
    for (int i = 0; i < 2'000; ++i) {
      if (i % 4 == 0) {
        while (taken.exchange(true)) machine::yield();
        machine::await_attempts();
        if (words[0] != words[1]) ++torn;
        taken = false;
      } else if (machine::begin().started()) {
        if (taken) machine::abort<1>();
        const std::uint64_t before = words[0];
        machine::store_in_attempt(words[0], before + 1);
        machine::store_in_attempt(words[1], before + 1);
        machine::end();
        ++committed;
      }
    }
  };
  for (machine::thread& one : threads) ASSERT_TRUE(one.start(add_or_look, nullptr));
  for (machine::thread& one : threads) one.join();
  EXPECT_EQ(torn, 0u);
  EXPECT_GT(committed, 0u);
  EXPECT_EQ(words[0], committed);
}

class ScriptedAttemptsDeathTest : public ScriptedAttempts {};

TEST_F(ScriptedAttemptsDeathTest, WhatNoCpuAllows) {
  EXPECT_DEATH(machine::end(), "end\\(\\) outside an attempt");
  script.begin_is(begin_nature::illegal);
  EXPECT_DEATH((void)machine::begin(), "no such instruction");
  script.begin_is(begin_nature::commits);
  EXPECT_DEATH(
      {
        if (machine::warm_begin().started()) {
          for (int i = 0; i < 4; ++i) machine::end();
        }
      },
      "committed an always-abort attempt");
}

}  // namespace

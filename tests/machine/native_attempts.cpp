// SPDX-License-Identifier: Apache-2.0
// Hardware attempts on the CPU at hand: what holds with them, and what must hold without.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include <txsync/machine/attempt.hpp>
#include <txsync/machine/capability.hpp>
#include <txsync/machine/thread.hpp>

#include "../sanitizers.hpp"

namespace {

namespace machine = txsync::machine;
using machine::attempt_status;
using machine::htm_claim;
using machine::htm_obstacle;
using machine::htm_trial;

constexpr int many = 10'000;  // interrupts abort good attempts too

class NativeAttempts : public testing::Test {
 protected:
  void SetUp() override {
    if (!machine::htm().attempts) GTEST_SKIP() << "no hardware transactions that commit on this machine";
  }
};

TEST(NativeCapability, TheTrialIsConsistent) {
  const htm_trial trial = machine::try_htm(50);
  EXPECT_EQ(trial.claim, machine::claimed_htm());
  EXPECT_LE(trial.commits + trial.without_reason, trial.tries);
  EXPECT_EQ(trial.obstacle == htm_obstacle::none, trial.capability.attempts);
  EXPECT_EQ(trial.capability.attempts, trial.commits > 0);
  EXPECT_EQ(trial.capability.attempts, trial.capability.max_depth > 0);
  EXPECT_EQ(trial.tries, trial.claim == htm_claim::present && trial.obstacle != htm_obstacle::kill_switch ? 50u : 0u);
}

TEST(NativeCapability, IsKnownWhenTheProgramStarts) {
  EXPECT_EQ(machine::attempts_never_work(), !machine::htm().attempts);
  EXPECT_EQ(machine::attempts_work(), machine::htm().attempts);
}

TEST(NativeCapability, TheKillSwitchHoldsForTheWholeProgram) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("TXSYNC_HTM", "off", 1);
    const htm_trial trial = machine::try_htm(50);
    _exit(trial.obstacle == htm_obstacle::kill_switch && trial.tries == 0 && !trial.capability.attempts ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

/// What a child that has the variable says on its standard error while it tries twice.
std::string said_with_htm(const char* value) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    setenv("TXSYNC_HTM", value, 1);
    for (int i = 0; i < 2; ++i) (void)machine::try_htm(5);
    _exit(0);
  }
  close(ends[1]);
  std::string said;
  char part[256];
  for (ssize_t got = 0; (got = read(ends[0], part, sizeof part)) > 0;) said.append(part, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return said;
}

TEST(NativeCapability, AnUnknownValueOfTheKillSwitchIsToldOnce) {
  EXPECT_EQ(said_with_htm("banana"), "txsync: TXSYNC_HTM: unknown value 'banana'; allowed: off, on; it is ignored\n");
  for (const char* const known : {"off", "on", ""}) EXPECT_EQ(said_with_htm(known), "") << known;
  const std::string wild = std::string(1000, 'x') + "\n";
  EXPECT_EQ(said_with_htm(wild.c_str()),
            "txsync: TXSYNC_HTM: unknown value '" + std::string(64, 'x') + "...'; allowed: off, on; it is ignored\n");
  EXPECT_EQ(said_with_htm("o\nf"), "txsync: TXSYNC_HTM: unknown value 'o?f'; allowed: off, on; it is ignored\n");
}

TEST(NativeCapability, TheUnclaimedInstructionIsTriedInSafety) {
  const machine::unclaimed_trial trial = machine::try_unclaimed_htm(20);
#if defined(__x86_64__)
  if (trial.illegal) {
    EXPECT_EQ(trial.tries, 1u);
    EXPECT_EQ(trial.commits, 0u);
  } else {
    EXPECT_EQ(trial.tries, 20u);
    EXPECT_LE(trial.commits + trial.without_reason, trial.tries);
  }
#else
  EXPECT_EQ(trial.tries, 0u);
#endif
}

TEST(NativeOutsideAttempts, QuestionsAreSafeOnEveryCpu) {
  EXPECT_FALSE(machine::active());
  EXPECT_EQ(machine::depth(), 0u);
  EXPECT_FALSE(machine::warm_active());
  machine::abort<9>();
  machine::suspend();
  machine::resume();
  if (!machine::htm().rollback_only) {
    EXPECT_EQ(machine::begin_rollback_only().raw, 0u);
  }
}

template <class Word>
void exchange_by_hint() {
  struct neighbours {
    std::atomic<Word> word{5};
    std::atomic<Word> behind{7};
  } both;
  const Word before = machine::hle_acquire(both.word, 6);
  machine::hle_release(both.word, 5);
  EXPECT_EQ(before, 5u);
  EXPECT_EQ(both.word.load(), 5u);
  EXPECT_EQ(both.behind.load(), 7u);
}

TEST(NativeOutsideAttempts, HleHintsAreOrdinaryAccessesAtLeast) {
  exchange_by_hint<std::uint8_t>();
  exchange_by_hint<std::uint16_t>();
  exchange_by_hint<std::uint32_t>();
  exchange_by_hint<std::uint64_t>();
}

TEST_F(NativeAttempts, StoresAppearAtTheEnd) {
  volatile int cell = 0;
  int commits = 0;
  for (int i = 0; i < many; ++i) {
    if (machine::begin().started()) {
      cell = cell + 1;
      machine::end();
      ++commits;
    }
  }
  EXPECT_GT(commits, 0);
  EXPECT_EQ(cell, commits);
}

TEST_F(NativeAttempts, AnAbortUndoesStoresAndSaysItsCode) {
  volatile int cell = 1;
  int told = 0;
  for (int i = 0; i < many && told == 0; ++i) {
    const attempt_status status = machine::begin();
    if (status.started()) {
      cell = 2;
      machine::abort<0x5A>();
    }
    if (status.is_explicit() && status.code() == 0x5A) ++told;
  }
  EXPECT_EQ(told, 1);
  EXPECT_EQ(cell, 1);
}

TEST_F(NativeAttempts, DepthAndActivityAreKnownInside) {
  struct view {
    bool active;
    unsigned outer, inner;
  } seen{};
  for (int i = 0; i < many && !seen.active; ++i) {
    if (!machine::begin().started()) continue;
    view inside{machine::active(), machine::depth(), 0};
    (void)machine::begin();
    inside.inner = machine::depth();
    machine::end();
    machine::end();
    seen = inside;
  }
  EXPECT_TRUE(seen.active);
  EXPECT_EQ(seen.outer, 1u);
  EXPECT_GE(seen.inner, 1u);
  EXPECT_FALSE(machine::active());
}

TEST_F(NativeAttempts, AnInnerAbortGoesBackToTheOuterBegin) {
  volatile int cell = 0;
  bool told = false;
  for (int i = 0; i < many && !told; ++i) {
    const attempt_status outer = machine::begin();
    if (outer.started()) {
      cell = 1;
      const attempt_status inner = machine::begin();
      if (!inner.started()) std::abort();  // never: the nesting is flat
      machine::abort<3>();
    }
    told = outer.is_explicit() && outer.code() == 3;
  }
  EXPECT_TRUE(told);
  EXPECT_EQ(cell, 0);
}

// An attempt may begin in a function that has returned by the time it aborts, as lock() of an elided lock has.
struct starter {
  attempt_status last{};
  [[gnu::noinline]] bool start() {
    last = machine::begin();
    return last.started();
  }
};

TEST_F(NativeAttempts, TheFunctionThatBeganMayHaveReturned) {
  starter one;
  bool told = false;
  for (int i = 0; i < many && !told; ++i) {
    if (one.start()) machine::abort<8>();
    told = one.last.is_explicit() && one.last.code() == 8;
  }
  EXPECT_TRUE(told);
}

TEST_F(NativeAttempts, AWarmAttemptNeverCommits) {
  if (!machine::htm().always_abort) GTEST_SKIP() << "nesting is not deep enough here";
  volatile int cell = 0;
  bool ran = false;
  for (int i = 0; i < many && !ran; ++i) {
    const attempt_status status = machine::warm_begin();
    if (status.started()) {
      cell = 1;
      if (!machine::warm_active()) machine::abort<2>();
      machine::end();  // a stray one
      if (!machine::active()) std::abort();
      machine::abort<1>();
    }
    ran = status.is_explicit() && status.code() == 1;
  }
  EXPECT_TRUE(ran);
  EXPECT_EQ(cell, 0);
  EXPECT_FALSE(machine::warm_active());
}

struct bank {
  alignas(128) volatile long left = 0;
  alignas(128) volatile long right = 0;
  std::atomic<bool> stop{false};
  std::atomic<long> torn{0};
};

// Two threads: one moves in attempts, one looks in attempts; no look sees half a move.
TEST_F(NativeAttempts, OthersSeeAllOrNothing) {
  if (under_tsan) GTEST_SKIP() << "ThreadSanitizer does not know that attempts are atomic";
  bank one;
  machine::thread looker;
  ASSERT_TRUE(looker.start(
      [](void* raw) {
        auto& shared = *static_cast<bank*>(raw);
        while (!shared.stop) {
          if (!machine::begin().started()) continue;
          const long sum = shared.left + shared.right;
          machine::end();
          if (sum != 0) ++shared.torn;
        }
      },
      &one));
  long moved = 0;
  for (int i = 0; i < 20 * many; ++i) {
    if (!machine::begin().started()) continue;
    one.left = one.left + 1;
    one.right = one.right - 1;
    machine::end();
    ++moved;
  }
  one.stop = true;
  looker.join();
  EXPECT_EQ(one.torn, 0);
  EXPECT_EQ(one.left, moved);
  EXPECT_EQ(one.right, -moved);
}

}  // namespace

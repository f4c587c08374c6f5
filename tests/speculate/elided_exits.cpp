// SPDX-License-Identifier: Apache-2.0
// Ways out of an elided section other than its end: exceptions, jumps, the end of its thread, cancellation, fork. Each
// leaves what it leaves with the plain lock, in an attempt and with the lock taken. Where the machine would end an
// attempt for a system call, the script does so at a look at the clock before it.
#include <gtest/gtest.h>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csetjmp>
#include <mutex>
#include <stdexcept>

#include <machine/scripted/script.hpp>
#include <speculate/scoped_site.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/speculate/elided.hpp>

#include "unlearnt.hpp"

namespace {

namespace machine = txsync::machine;
using machine::attempt_status;
using txsync::elided;
using txsync::scoped_site;
using txsync::tatas_lock;
using txsync::script::machine_script;
using txsync::script::plan;

using Lock = elided<tatas_lock>;

/// Where the machine may end an attempt, and does under this plan. Not while the stack unwinds: the machine undoes what
/// the C++ library notes of that, the script does not.
void interrupt() { (void)machine::clock_ns(); }
plan interrupted() { return plan::aborts_at_step(1, attempt_status::syscall_bit); }

/// Each test with sections in attempts, in attempts that abort and come again with the lock, and with the lock taken.
enum class run { elided, again, locked };

class ElidedExits : public testing::TestWithParam<run> {
 protected:
  ElidedExits() { have_unlearnt_rtm(script); }

  void plan_section(plan again = plan::aborts_at_end(0)) {
    if (GetParam() == run::locked) script.on_begin(plan::aborts(0));
    if (GetParam() == run::again) script.on_begin({again, plan::aborts(0)});
  }
  /// Of a section that makes one: no attempt survives it.
  void plan_system_call() {
    if (GetParam() == run::locked) return plan_section();
    script.on_begin({interrupted(), plan::aborts(0)});
  }
  void expect_free(Lock& lock) {
    EXPECT_FALSE(machine::active());
    EXPECT_FALSE(txsync::detail::in_elided_attempt());
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
    EXPECT_FALSE(machine::active());
  }

  machine_script script;
  scoped_site place{txsync::elision_presets::eager};
};

INSTANTIATE_TEST_SUITE_P(Ways, ElidedExits, testing::Values(run::elided, run::again, run::locked), [](const auto& way) {
  return way.param == run::elided ? "Elided" : way.param == run::again ? "Again" : "Locked";
});

// ---- exceptions

TEST_P(ElidedExits, AnExceptionThatLeavesTheSectionUnlocks) {
  Lock lock(place);
  int value = 0;
  plan_section(interrupted());
  try {
    const std::lock_guard hold(lock);
    interrupt();
    EXPECT_EQ(machine::active(), GetParam() == run::elided);
    value = 1;
    throw std::runtime_error("out");
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "out");
    EXPECT_FALSE(machine::active()) << "committed before the handler runs";
  }
  EXPECT_EQ(value, 1);
  expect_free(lock);
}

TEST_P(ElidedExits, AnExceptionCaughtInTheSectionStaysThere) {
  Lock lock(place);
  int value = 0;
  plan_section();
  {
    const std::lock_guard hold(lock);
    const bool elided = machine::active();
    try {
      throw 7;
    } catch (int caught) {
      value = caught;
    }
    EXPECT_EQ(machine::active(), elided);
  }
  EXPECT_EQ(value, 7);
  expect_free(lock);
}

TEST_P(ElidedExits, CommitActionsOfAScopeThatThrowsRunOnce) {
  Lock lock(place);
  static int done;
  done = 0;
  plan_section(interrupted());
  try {
    const txsync::elided_guard hold(lock);
    interrupt();
    txsync::on_commit([]() noexcept { ++done; });
    EXPECT_EQ(done, 0);
    throw 1;
  } catch (int) {
    EXPECT_EQ(done, 1);
  }
  EXPECT_FALSE(txsync::detail::must_defer());
  expect_free(lock);
}

// ---- jumps

std::jmp_buf out;

[[gnu::noinline]] void lock_and_jump(Lock& lock, volatile int& value) {
  lock.lock();
  value = 42;
  std::longjmp(out, 1);
}

// Guaranteed: the critical section goes on after the jump, in its attempt or with the lock, as the plain lock would
// stay held. It ends with an unlock(). An abort there goes back to the lock(), and the jump is done again.
TEST_P(ElidedExits, AJumpOutOfTheSectionLeavesItOpen) {
  Lock lock(place);
  static volatile int value;
  value = 0;
  plan_section();
  if (setjmp(out) == 0) lock_and_jump(lock, value);
  if (GetParam() != run::again) {
    EXPECT_EQ(machine::active(), GetParam() == run::elided);
  }
  EXPECT_EQ(value, 42);
  EXPECT_FALSE(lock.try_lock()) << "it is the thread's own still";
  lock.unlock();
  EXPECT_EQ(value, 42);
  expect_free(lock);
}

// ---- ends of threads

struct section {
  Lock& lock;
  int value = 0;
  bool elided = false;
};

void run_in_thread(section& one, void* (*body)(void*), void** result = nullptr) {
  pthread_t thread{};
  ASSERT_EQ(pthread_create(&thread, nullptr, body, &one), 0);
  ASSERT_EQ(pthread_join(thread, result), 0);
}

TEST_P(ElidedExits, AThreadThatEndsInItsSectionLeavesTheLockHeld) {
  Lock lock(place);
  plan_system_call();
  section one{lock};
  run_in_thread(one, [](void* raw) -> void* {
    auto& mine = *static_cast<section*>(raw);
    mine.lock.lock();
    ++mine.value;
    interrupt();
    pthread_exit(nullptr);
  });
  EXPECT_EQ(one.value, GetParam() == run::locked ? 1 : 2) << "the script does not undo the first";
  EXPECT_FALSE(lock.try_lock());
  EXPECT_FALSE(machine::active());
}

TEST_P(ElidedExits, ACancelledThreadUnlocksOnItsWayOut) {
  Lock lock(place);
  section one{lock};
  plan_section(interrupted());
  void* result = nullptr;
  run_in_thread(
      one,
      [](void* raw) -> void* {
        auto& mine = *static_cast<section*>(raw);
        pthread_cancel(pthread_self());
        const std::lock_guard hold(mine.lock);
        interrupt();
        mine.elided = machine::active();
        mine.value = 5;
        pthread_testcancel();
        mine.value = 6;
        return nullptr;
      },
      &result);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  EXPECT_EQ(one.elided, GetParam() == run::elided);
  EXPECT_EQ(one.value, 5);
  expect_free(lock);
}

// ---- fork

TEST_P(ElidedExits, BothSidesOfAForkHoldTheLock) {
  Lock lock(place);
  plan_system_call();
  lock.lock();
  interrupt();
  const pid_t child = fork();
  const bool held = !machine::active() && !lock.try_lock();
  lock.unlock();
  const bool released = lock.try_lock();
  lock.unlock();
  if (child == 0) _exit(held && released ? 0 : 1);
  EXPECT_TRUE(held && released);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace

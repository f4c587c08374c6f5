// SPDX-License-Identifier: Apache-2.0
// Threads: start, identity, end, place.
#include <gtest/gtest.h>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/thread.hpp>

#include "machine/known_rate.hpp"

namespace {

namespace machine = txsync::machine;

TEST(NativeThreads, RunTheirFunctionAndAreJoined) {
  int value = 0;
  machine::thread one;
  EXPECT_FALSE(one.joinable());
  ASSERT_TRUE(one.start([](void* argument) { *static_cast<int*>(argument) = 7; }, &value));
  EXPECT_TRUE(one.joinable());
  one.join();
  EXPECT_FALSE(one.joinable());
  EXPECT_EQ(value, 7);
}

TEST(NativeThreads, MoveHandsTheThreadOver) {
  machine::thread one;
  ASSERT_TRUE(one.start([](void*) {}, nullptr));
  machine::thread two = std::move(one);
  EXPECT_FALSE(one.joinable());  // NOLINT: the state after a move is part of the contract
  ASSERT_TRUE(two.joinable());
  two.join();
}

TEST(NativeThreads, NumbersAreUniqueAndStay) {
  struct shared {
    std::mutex guard;
    std::set<std::uint32_t> seen;
    std::atomic<unsigned> arrived{0};
  } state;
  constexpr unsigned count = 8;
  state.seen.insert(machine::thread_id());
  machine::thread threads[count];
  for (machine::thread& one : threads) {
    ASSERT_TRUE(one.start(
        [](void* raw) {
          auto& all = *static_cast<shared*>(raw);
          const std::uint32_t mine = machine::thread_id();
          {
            const std::lock_guard hold(all.guard);
            all.seen.insert(mine);
          }
          ++all.arrived;
          while (all.arrived < count) machine::yield();  // all alive at once
          EXPECT_EQ(machine::thread_id(), mine);
        },
        &state));
  }
  for (machine::thread& one : threads) one.join();
  EXPECT_EQ(state.seen.size(), count + 1);
  EXPECT_EQ(state.seen.count(0), 0u);
}

TEST(NativeThreads, AChildHasItsOwnNumber) {
  const std::uint32_t parent = machine::thread_id();
  const pid_t child = fork();
  if (child == 0) _exit(machine::thread_id() != parent && machine::thread_id() != 0 ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(NativeThreads, ExitCallsRunAtTheEndLastFirst) {
  static std::vector<int> order;
  order.clear();
  machine::thread one;
  ASSERT_TRUE(one.start(
      [](void*) {
        static int numbers[5] = {0, 1, 2, 3, 4};
        const auto note = [](void* number) { order.push_back(*static_cast<int*>(number)); };
        for (int i = 0; i < 4; ++i) EXPECT_TRUE(machine::at_thread_exit(note, &numbers[i]));
        EXPECT_FALSE(machine::at_thread_exit(note, &numbers[4])) << "four a thread";
        EXPECT_TRUE(order.empty());
      },
      nullptr));
  one.join();
  EXPECT_EQ(order, (std::vector<int>{3, 2, 1, 0}));
}

TEST(NativeThreads, AnExitCallMayAskForAnother) {
  static int calls;
  calls = 0;
  machine::thread one;
  ASSERT_TRUE(one.start(
      [](void*) {
        EXPECT_TRUE(machine::at_thread_exit(
            [](void*) {
              ++calls;
              EXPECT_TRUE(machine::at_thread_exit([](void*) { calls += 10; }, nullptr));
            },
            nullptr));
      },
      nullptr));
  one.join();
  EXPECT_EQ(calls, 11);
}

TEST(NativeThreads, SleepLastsAtLeastThatLong) {
  const std::uint64_t start = machine::clock_ns();
  machine::sleep_ns(3'000'000);
  EXPECT_GE(machine::clock_ns() - start, 3'000'000u);
}

TEST(NativeThreads, PinBindsToOneAllowedCpu) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(machine::cpu_count(), static_cast<unsigned>(CPU_COUNT(&before)));
  unsigned last = 0;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &before)) last = cpu;
  }
  EXPECT_TRUE(machine::pin(last));
  EXPECT_EQ(sched_getcpu(), static_cast<int>(last));
  EXPECT_FALSE(machine::pin(CPU_SETSIZE));
  EXPECT_FALSE(machine::pin(CPU_SETSIZE - 1)) << "no machine of this size runs the tests";
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(NativeThreads, ARealtimePriorityIsSeenSoon) {
  bool refused = false, before = true, after = false;
  std::thread([&] {
    before = machine::has_realtime_priority();
    sched_param lowest{};
    lowest.sched_priority = 1;
    refused = sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest) != 0;  // as rtkit asks for
    for (const std::uint64_t start = machine::clock_ns(); !after && machine::clock_ns() - start < 1'000'000'000;)
      after = machine::has_realtime_priority();
  }).join();
  EXPECT_FALSE(before);
  if (refused) GTEST_SKIP() << "SCHED_FIFO is not allowed here";
  EXPECT_TRUE(after);
}

TEST(NativeClock, CyclesAgreeWithTheClock) {
  const std::uint64_t rate = machine::cycles_per_second();
  EXPECT_GT(rate, 1'000'000u);
  EXPECT_EQ(machine::cycles_per_second(), rate);
  const std::uint64_t clock = machine::clock_ns();
  const std::uint64_t counted = machine::cycles();
  machine::sleep_ns(20'000'000);
  const double by_clock = static_cast<double>(machine::clock_ns() - clock);
  const double by_cycles = static_cast<double>(machine::cycles() - counted) * 1e9 / static_cast<double>(rate);
  // Wide: the thread may lose its CPU between the two looks. A wrong unit is off by a factor of ten or more.
  EXPECT_GT(by_cycles / by_clock, 0.3);
  EXPECT_LT(by_cycles / by_clock, 3.0);
}

// Each process that has no launcher measures when it first needs the rate.
TEST(NativeCycles, MeasuringTakesLittleTime) {
  std::uint64_t min_ns = ~std::uint64_t{0};
  std::uint64_t rate = 0;
  for (int tries = 0; tries < 20 && min_ns > 500'000; ++tries) {
    machine::know_cycles_per_second(0);  // as if nobody had asked
    const std::uint64_t before = machine::thread_cpu_ns();
    rate = machine::cycles_per_second();
    min_ns = std::min(min_ns, machine::thread_cpu_ns() - before);
  }
  EXPECT_LE(min_ns, 500'000u);
  EXPECT_GT(rate, 1'000'000u);
}

// Nothing is measured then.
TEST(NativeCycles, TheRateIsKnownFromAnotherProcess) {
  const pid_t child = fork();
  if (child == 0) {
    machine::know_cycles_per_second(123'456'789);
    _exit(machine::cycles_per_second() == 123'456'789 ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace

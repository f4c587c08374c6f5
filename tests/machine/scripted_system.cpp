// SPDX-License-Identifier: Apache-2.0
// The rest of the scripted machine: clock, parking, threads, releases, pages, CPUs, environment.
#include <gtest/gtest.h>

#include <vector>

#include <machine/scripted/script.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/environment.hpp>
#include <txsync/machine/memory.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/restartable.hpp>
#include <txsync/machine/thread.hpp>

namespace {

namespace machine = txsync::machine;
using machine::park_result;
using txsync::script::machine_script;

TEST(ScriptedClock, StepsSoThatBoundedWaitsEnd) {
  machine_script script;
  const std::uint64_t start = machine::clock_ns();
  EXPECT_EQ(machine::clock_ns(), start + 1);
  machine::relax();
  EXPECT_EQ(machine::cycles(), start + 12);
  script.clock_steps(100, 0);
  machine::relax();
  EXPECT_EQ(machine::cycles(), start + 112);
  machine::sleep_ns(5000);
  EXPECT_EQ(script.now(), start + 5112);
  EXPECT_EQ(script.counted().relaxes, 2u);
  EXPECT_EQ(script.counted().sleeps, 1u);
}

TEST(ScriptedClock, MovesByHand) {
  machine_script script;
  script.clock_by_hand(1000);
  EXPECT_EQ(machine::clock_ns(), 1000u);
  machine::relax();
  EXPECT_EQ(machine::cycles(), 1000u);
  script.advance(500);
  EXPECT_EQ(machine::clock_ns(), 1500u);
}

TEST(ScriptedPark, AnswersAsTold) {
  machine_script script;
  script.clock_by_hand(0);
  const std::atomic<std::uint32_t> word{1};
  for (const park_result answer : {park_result::woken, park_result::changed, park_result::timed_out}) {
    script.on_park(answer);
  }
  EXPECT_EQ(machine::park(word, 1), park_result::woken);
  EXPECT_EQ(machine::park(word, 1), park_result::changed);
  EXPECT_EQ(machine::park(word, 1, 700), park_result::timed_out);
  EXPECT_GE(script.now(), 700u) << "the deadline has passed";
  EXPECT_EQ(machine::park(word, 2), park_result::changed) << "by the word again";
  script.on_unpark(3);
  EXPECT_EQ(machine::unpark(word, 9), 3u);
  EXPECT_EQ(machine::unpark(word, 9), 0u);
  EXPECT_EQ(script.counted().parks, 4u);
  EXPECT_EQ(script.counted().unparks, 2u);
}

struct sleeping {
  std::atomic<std::uint32_t> word{0};
  std::uint64_t deadline = machine::no_deadline;
  std::atomic<unsigned> order{0};
};

struct sleeper {
  sleeping* all = nullptr;
  park_result answer = park_result::changed;
  unsigned woken_as = 0;
  machine::thread thread;

  bool start(sleeping& shared) {
    all = &shared;
    return thread.start(
        [](void* raw) {
          auto& me = *static_cast<sleeper*>(raw);
          me.answer = machine::park(me.all->word, 0, me.all->deadline);
          me.woken_as = ++me.all->order;
        },
        this);
  }
};

void wait_until_parked(const machine_script& script, unsigned count) {
  while (script.parked() != count) machine::yield();
}

TEST(ScriptedPark, WakesTheOldestFirst) {
  machine_script script;
  sleeping shared;
  sleeper three[3];
  for (unsigned i = 0; i < 3; ++i) {
    ASSERT_TRUE(three[i].start(shared));
    wait_until_parked(script, i + 1);
  }
  const std::atomic<std::uint32_t> other{0};
  EXPECT_EQ(machine::unpark(other, 1), 0u);
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_EQ(machine::unpark(shared.word, 1), 1u);
    while (shared.order != i + 1) machine::yield();
  }
  for (unsigned i = 0; i < 3; ++i) {
    three[i].thread.join();
    EXPECT_EQ(three[i].answer, park_result::woken);
    EXPECT_EQ(three[i].woken_as, i + 1);
  }
}

TEST(ScriptedPark, EveryoneAtOnce) {
  machine_script script;
  sleeping shared;
  sleeper three[3];
  for (sleeper& one : three) ASSERT_TRUE(one.start(shared));
  wait_until_parked(script, 3);
  EXPECT_EQ(machine::unpark(shared.word, machine::everyone), 3u);
  EXPECT_EQ(script.parked(), 0u);
  for (sleeper& one : three) one.thread.join();
}

TEST(ScriptedPark, SharedIsTheSameInOneProcess) {
  machine_script script;
  std::atomic<std::uint32_t> word{1};
  EXPECT_EQ(machine::park_shared(word, 2), park_result::changed);
  script.on_park(park_result::woken);
  EXPECT_EQ(machine::park_shared(word, 1), park_result::woken);
  script.on_unpark(2);
  EXPECT_EQ(machine::unpark_shared(word, 3), 2u);
}

TEST(ScriptedPark, ByHandOnlyTheHandEndsASleep) {
  machine_script script;
  script.clock_by_hand(100);
  sleeping shared;
  shared.deadline = 200;
  sleeper one;
  ASSERT_TRUE(one.start(shared));
  wait_until_parked(script, 1);
  script.advance(99);
  EXPECT_EQ(script.parked(), 1u);
  script.advance(1);
  one.thread.join();
  EXPECT_EQ(one.answer, park_result::timed_out);
}

TEST(ScriptedPark, OnASteppingClockSleepEndsByItself) {
  machine_script script;
  const std::atomic<std::uint64_t> word{std::uint64_t{7} << 32};
  const std::uint64_t deadline = machine::clock_ns() + 3'000'000;
  EXPECT_EQ(machine::park_high(word, 7, deadline), park_result::timed_out);
  EXPECT_GE(machine::clock_ns(), deadline);
  EXPECT_EQ(machine::park_high(word, 6, deadline), park_result::changed);
}

TEST(ScriptedReleases, CanBeInterrupted) {
  machine_script script;
  machine::lock_word word{1};
  script.interrupt_releases(2);
  EXPECT_FALSE(machine::release_unless_waited(word, 0));
  EXPECT_FALSE(machine::release_unless_waited(word, 0));
  EXPECT_EQ(word.load(), 1u);
  EXPECT_TRUE(machine::release_unless_waited(word, 0));
  EXPECT_EQ(word.load(), 0u);
  word = (std::uint64_t{1} << 32) | 1;
  EXPECT_FALSE(machine::release_unless_waited(word, 0));
  machine::membarrier_releases();
  EXPECT_EQ(script.counted().settles, 1u);
  EXPECT_FALSE(machine::releases_are_restartable());
  script.releases_are_restartable(true);
  EXPECT_TRUE(machine::releases_are_restartable());
}

TEST(ScriptedThreads, StartFailsWhenTold) {
  machine_script script;
  script.fail_thread_start(2);
  machine::thread one;
  machine::thread two;
  EXPECT_TRUE(one.start([](void*) {}, nullptr));
  EXPECT_FALSE(two.start([](void*) {}, nullptr));
  EXPECT_FALSE(two.joinable());
  EXPECT_TRUE(two.start([](void*) {}, nullptr));
  one.join();
  two.join();
}

TEST(ScriptedPages, FailWhenTold) {
  machine_script script;
  script.fail_map_pages(1);
  EXPECT_EQ(machine::map_pages(1), nullptr);
  script.fail_map_pages(1);
  EXPECT_EQ(machine::map_pages_twice(1).first, nullptr);
  const std::size_t bytes = machine::page_size();
  void* const page = machine::map_pages(bytes);
  ASSERT_NE(page, nullptr);
  script.fail_protect_pages(2);
  EXPECT_TRUE(machine::protect_pages(page, bytes, machine::page_rights::read));
  EXPECT_FALSE(machine::protect_pages(page, bytes, machine::page_rights::none));
  EXPECT_EQ(*static_cast<volatile char*>(page), 0) << "the rights are as they were";
  script.fail_fault_handler(1);
  EXPECT_FALSE(machine::set_fault_handler(nullptr, nullptr));
  machine::unmap_pages(page, bytes);
}

TEST(ScriptedPages, FaultsAreReal) {
  machine_script script;
  static int calls;
  calls = 0;
  const std::size_t bytes = machine::page_size();
  void* const page = machine::map_pages(bytes);
  ASSERT_TRUE(machine::protect_pages(page, bytes, machine::page_rights::none));
  ASSERT_TRUE(machine::set_fault_handler(
      [](void*, bool, void* argument) {
        ++calls;
        return machine::protect_pages(argument, machine::page_size(), machine::page_rights::read_write)
                   ? machine::fault_answer::retry
                   : machine::fault_answer::not_mine;
      },
      page));
  *static_cast<volatile char*>(page) = 1;
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(machine::set_fault_handler(nullptr, nullptr));
  machine::unmap_pages(page, bytes);
}

TEST(ScriptedCpus, AreMadeUp) {
  machine_script script;
  EXPECT_EQ(machine::cpu_count(), 4u);
  EXPECT_EQ(machine::socket_count(), 1u);
  script.cpus_are({{10, 0, 0}, {11, 0, 0}, {20, 1, 1}});
  EXPECT_EQ(machine::cpu_count(), 3u);
  EXPECT_EQ(machine::socket_count(), 2u);
  EXPECT_EQ(machine::cpu_for(machine::placement::cores_first, 1), 20u);
  EXPECT_EQ(machine::cpu_for(machine::placement::smt_first, 1), 11u);
  EXPECT_EQ(machine::cpu_for(machine::placement::socket, 5, 1), 20u);
  EXPECT_TRUE(machine::pin(20));
  EXPECT_FALSE(machine::pin(21));
  script.refuse_pin(true);
  EXPECT_FALSE(machine::pin(10));
  EXPECT_EQ(script.pins(), (std::vector<unsigned>{20}));
}

TEST(ScriptedEnvironment, IsWhatTheScriptSays) {
  machine_script script;
  EXPECT_EQ(machine::environment("PATH"), nullptr) << "not the test's own";
  script.set_environment("TXSYNC_X", "1");
  const char* const before = machine::environment("TXSYNC_X");
  script.set_environment("TXSYNC_X", "2");
  EXPECT_STREQ(before, "1") << "what was handed out stays";
  EXPECT_STREQ(machine::environment("TXSYNC_X"), "2");
  script.set_environment("TXSYNC_X", std::nullopt);
  EXPECT_EQ(machine::environment("TXSYNC_X"), nullptr);

  script.seed_is(42);
  EXPECT_EQ(machine::random_seed(), 42u);
  script.set_environment("TXSYNC_SEED", "0x10");
  EXPECT_EQ(machine::random_seed(), 16u);
  script.set_environment("TXSYNC_SEED", "no number");
  EXPECT_EQ(machine::random_seed(), 42u);

  script.kernel_is("Linux 7.0.1");
  script.libc_is("glibc 2.43");
  EXPECT_STREQ(machine::kernel_version(), "Linux 7.0.1");
  EXPECT_STREQ(machine::libc_version(), "glibc 2.43");
  EXPECT_STREQ(machine::backend_name(), "scripted");
}

TEST(ScriptedCpuid, AnswersItsLeaves) {
  machine_script script;
  std::uint32_t leaf[4];
  EXPECT_TRUE(machine::cpuid(7, 0, leaf));
  EXPECT_EQ(leaf[1], 0u);
  EXPECT_FALSE(machine::cpuid(7, 1, leaf));
  script.answer_cpuid(7, 1, {1, 2, 3, 4});
  EXPECT_TRUE(machine::cpuid(7, 1, leaf));
  EXPECT_EQ(leaf[3], 4u);
  script.forbid_cpuid();
  EXPECT_FALSE(machine::cpuid(7, 1, leaf));
}

}  // namespace

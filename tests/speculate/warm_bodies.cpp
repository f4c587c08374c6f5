// SPDX-License-Identifier: Apache-2.0
// Guarded bodies, and the memory that a waiter's body is run over: what ends them, and what they leave alone (native
// machine).
#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <cstdint>
#include <stdexcept>

#include <txsync/machine/guarded.hpp>
#include <txsync/speculate/warm_up.hpp>

#include "modulo.hpp"

namespace {

namespace machine = txsync::machine;
using txsync::warm_memory;

// ---- guarded bodies

TEST(Guarded, TellsHowItEnded) {
  int calls = 0;
  EXPECT_EQ(machine::run_guarded([](void* count) { ++*static_cast<int*>(count); }, &calls),
            machine::guarded_end::returned);
  EXPECT_EQ(machine::run_guarded([](void*) { machine::leave_guarded(); }, nullptr), machine::guarded_end::left);
  EXPECT_FALSE(machine::is_guarded());
  EXPECT_EQ(calls, 1);
}

TEST(Guarded, EndsAtAFaultAndGuardsAgain) {
  for (int i = 0; i < 3; ++i) {
    volatile std::uintptr_t nowhere = 8;
    const auto read = [](void* place) {
      (void)machine::speculative_load(reinterpret_cast<const int*>(*static_cast<volatile std::uintptr_t*>(place)));
      FAIL() << "went on behind a fault";
    };
    EXPECT_EQ(machine::run_guarded(read, const_cast<std::uintptr_t*>(&nowhere)), machine::guarded_end::fault);
    EXPECT_FALSE(machine::is_guarded());
  }
}

TEST(Guarded, TakesWhatIsNoAddressForAFault) {
  volatile std::uintptr_t wild = 0xA5A5A5A5A5A5A5A0;
  const auto read = [](void* place) {
    (void)machine::speculative_load(reinterpret_cast<const int*>(*static_cast<volatile std::uintptr_t*>(place)));
  };
  EXPECT_EQ(machine::run_guarded(read, const_cast<std::uintptr_t*>(&wild)), machine::guarded_end::fault);
}

#if defined(__x86_64__)
constexpr bool division_by_zero_faults = true;
#else
constexpr bool division_by_zero_faults = false;  // AArch64 and POWER answer something
#endif

TEST(Guarded, EndsAtADivisionByZero) {
  for (int i = 0; i < 3; ++i) {
    volatile std::uint64_t buckets = 0;
    const auto divide = [](void* by) {
      (void)modulo(1'000, *static_cast<volatile std::uint64_t*>(by));
      EXPECT_FALSE(division_by_zero_faults) << "went on behind a fault";
    };
    EXPECT_EQ(machine::run_guarded(divide, const_cast<std::uint64_t*>(&buckets)),
              division_by_zero_faults ? machine::guarded_end::fault : machine::guarded_end::returned);
  }
}

TEST(Guarded, KeepsTheWayOfRoundingThroughAFault) {
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  volatile const double one = 1, three = 3;
  volatile const double before = one / three;
  volatile std::uintptr_t nowhere = 8;
  const auto read = [](void* place) {
    (void)machine::speculative_load(reinterpret_cast<const int*>(*static_cast<volatile std::uintptr_t*>(place)));
  };
  EXPECT_EQ(machine::run_guarded(read, const_cast<std::uintptr_t*>(&nowhere)), machine::guarded_end::fault);
  const int round = std::fegetround();
  volatile const double after = one / three;
  ASSERT_EQ(std::fesetround(FE_TONEAREST), 0);
  EXPECT_EQ(round, FE_UPWARD);
  EXPECT_EQ(after, before);
  EXPECT_NE(after, one / three);
}

TEST(Guarded, WithinAnotherEndsAlone) {
  const auto outer = [](void* raw) {
    EXPECT_EQ(machine::run_guarded([](void*) {}, nullptr), machine::guarded_end::returned);
    EXPECT_TRUE(machine::is_guarded());
    EXPECT_EQ(machine::run_guarded([](void*) { machine::leave_guarded(); }, nullptr), machine::guarded_end::left);
    volatile std::uintptr_t nowhere = 8;
    const auto read = [](void* place) {
      (void)machine::speculative_load(reinterpret_cast<const int*>(*static_cast<volatile std::uintptr_t*>(place)));
    };
    EXPECT_EQ(machine::run_guarded(read, const_cast<std::uintptr_t*>(&nowhere)), machine::guarded_end::fault);
    EXPECT_TRUE(machine::is_guarded());
    *static_cast<bool*>(raw) = true;
    read(const_cast<std::uintptr_t*>(&nowhere));
    FAIL() << "the outer body went on behind a fault";
  };
  bool went_on = false;
  EXPECT_EQ(machine::run_guarded(outer, &went_on), machine::guarded_end::fault);
  EXPECT_TRUE(went_on);
  EXPECT_FALSE(machine::is_guarded());
}

// ---- the memory of a waiter

TEST(WarmMemory, LoadsAndNeverStores) {
  warm_memory memory(100);
  std::uint64_t value = 7;
  EXPECT_EQ(memory.load(value), 7U);
  memory.store(value, 8);
  memory.update(value, [](std::uint64_t) -> std::uint64_t { throw std::logic_error("called"); });
  EXPECT_EQ(value, 7U);
}

TEST(WarmMemory, AnswersZeroWhenItsAccessesAreUsedUpAndNothingGuardsIt) {
  warm_memory memory(3);
  const std::uint64_t value = 7;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(memory.load(value), 7U);
  EXPECT_EQ(memory.load(value), 0U);
  EXPECT_TRUE(memory.over());
  const double real = 1.5;
  EXPECT_EQ(memory.load(real), 0.0);
}

TEST(WarmMemory, EndsWithTheWait) {
  static std::atomic<bool> ended{false};
  const txsync::lock_wait wait{[](const void*, std::uint64_t) noexcept { return ended.load(); }, nullptr, 0, 1};
  warm_memory memory(1'000'000);
  warm_memory of_wait(wait, 1'000'000);
  const std::uint64_t value = 7;
  EXPECT_EQ(of_wait.load(value), 7U);
  ended = true;
  std::uint64_t loads = 0;
  while (of_wait.load(value) == 7U) ++loads;
  EXPECT_LE(loads, 4U);
  EXPECT_EQ(memory.load(value), 7U);
}

/// Accesses that a body makes beyond `begun`, with which its wait or its accesses end.
struct late_accesses {
  static constexpr unsigned begun = 8;
  std::uint64_t cells[4'096] = {};
  unsigned made = 0;
  bool returned = false;

  template <class Access>
  void run(bool wait_ends, const Access& access) {
    static std::atomic<bool> ended{false};
    ended = false;
    const txsync::lock_wait wait{[](const void*, std::uint64_t) noexcept { return ended.load(); }, nullptr, 0, 1};
    warm_memory memory(wait, wait_ends ? 1'000'000 : begun);
    const auto body = [&](warm_memory& mine) {
      for (unsigned i = 0; i < begun; ++i) (void)mine.load(cells[i]);
      ended = wait_ends;
      for (std::uint64_t& cell : cells) {
        access(mine, cell);
        ++made;
      }
      returned = true;
    };
    txsync::detail::warm_call_of<decltype(body)> call(body);
    call.memory = &memory;
    (void)txsync::detail::run_warm(call);
    EXPECT_FALSE(returned);
  }
};

TEST(WarmMemory, GoesOnToFetchWhenTheWaitIsOverAndNotForEver) {
  late_accesses stores, fetches;
  stores.run(true, [](warm_memory& memory, std::uint64_t& cell) { memory.store(cell, 1); });
  EXPECT_GE(stores.made, 64U);
  EXPECT_LE(stores.made, 136U);
  fetches.run(true, [](warm_memory& memory, std::uint64_t& cell) { memory.fetch(&cell, sizeof cell); });
  EXPECT_GE(fetches.made, 64U);
  EXPECT_LE(fetches.made, 136U);
}

TEST(WarmMemory, IsLeftAtALoadWhenTheWaitIsOver) {
  late_accesses loads, both;
  loads.run(true, [](warm_memory& memory, std::uint64_t& cell) { (void)memory.load(cell); });
  EXPECT_LE(loads.made, 4U);
  both.run(true, [](warm_memory& memory, std::uint64_t& cell) { memory.store(cell, memory.load(cell)); });
  EXPECT_LE(both.made, 4U);
}

TEST(WarmMemory, FetchesNothingMoreWhenItsAccessesAreUsedUp) {
  late_accesses stores;
  stores.run(false, [](warm_memory& memory, std::uint64_t& cell) { memory.store(cell, 1); });
  EXPECT_EQ(stores.made, 0U);
}

TEST(WarmMemory, IsLeftAtTheFirstAccessAfterItsEnd) {
  std::uint64_t value = 7;
  unsigned loads = 0, asked = 0;
  bool returned = false;
  txsync::warm_ahead(
      [&](warm_memory& memory) {
        for (; loads < 10; ++loads) EXPECT_EQ(memory.load(value), 7U);
        for (; asked < 10; ++asked) EXPECT_TRUE(memory.over()) << "to ask is no access";
        memory.store(value, 8);
        returned = true;
      },
      10);
  EXPECT_EQ(loads, 10U);
  EXPECT_EQ(asked, 10U);
  EXPECT_FALSE(returned);
}

TEST(WarmMemory, OneWithinAnotherBodyEndsAlone) {
  std::uint64_t value = 7;
  unsigned inner = 0, outer = 0;
  txsync::warm_ahead([&](warm_memory& memory) {
    txsync::warm_ahead(
        [&](warm_memory& own) {
          for (; inner < 100; ++inner) EXPECT_EQ(own.load(value), 7U);
        },
        5);
    for (; outer < 10; ++outer) EXPECT_EQ(memory.load(value), 7U);
  });
  EXPECT_EQ(inner, 5U);
  EXPECT_EQ(outer, 10U);
}

TEST(WarmMemory, LoadsWhatIsNotAMultipleOfAWord) {
  warm_memory memory(100);
  const std::uint8_t byte = 0xFE;
  const std::int16_t two = -2;
  const float four = 0.5F;
  const char* const text = "text";
  const bool yes = true;
  EXPECT_EQ(memory.load(byte), 0xFE);
  EXPECT_EQ(memory.load(two), -2);
  EXPECT_EQ(memory.load(four), 0.5F);
  EXPECT_EQ(memory.load(text), text);
  EXPECT_TRUE(memory.load(yes));
}

/// Does nothing but fetch: what GCC 12 takes away where it is written with its own builtin. fetches.py looks for it.
[[gnu::noinline]] void only_fetches(const std::uint64_t& read, std::uint64_t& written) {
  warm_memory memory(8);
  memory.fetch(&read, sizeof read);
  memory.store(written, 1);
}

TEST(WarmMemory, FetchesWithoutAWrite) {
  const std::uint64_t read = 1;
  std::uint64_t written = 2;
  only_fetches(read, written);
  EXPECT_EQ(written, 2U);
}

TEST(WarmAhead, RunsTheBodyOnce) {
  unsigned runs = 0;
  std::uint64_t value = 3;
  txsync::warm_ahead([&](warm_memory& memory) {
    ++runs;
    memory.store(value, 4);
  });
  EXPECT_EQ(runs, 1U);
  EXPECT_EQ(value, 3U);
}

}  // namespace

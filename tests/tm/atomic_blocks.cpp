// SPDX-License-Identifier: Apache-2.0
// What atomic blocks promise, by every algorithm (native machine).
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "every_algorithm.hpp"
#include "tm/shared.hpp"

namespace {

using stm::atomically;
using stm::var;

class AtomicBlocks : public every_algorithm {};
TXSYNC_FOR_EVERY_ALGORITHM(AtomicBlocks);

constinit stm::block plain{"test.plain"};

struct three_numbers {
  std::uint64_t first;
  std::int32_t second;
  std::uint8_t third;
  bool operator==(const three_numbers&) const = default;
};

TEST_P(AtomicBlocks, ReadWhatTheyHaveWritten) {
  var<int> number{-7};
  var<double> real{0.5};
  var<bool> flag{true};
  var<int*> pointer{nullptr};
  var<three_numbers> three{{1, -2, 3}};
  int place = 0;
  atomically(plain, [&](auto& tx) {
    EXPECT_EQ(tx.read(number), -7);
    EXPECT_EQ(tx.read(real), 0.5);
    EXPECT_TRUE(tx.read(flag));
    EXPECT_EQ(tx.read(pointer), nullptr);
    EXPECT_EQ(tx.read(three), (three_numbers{1, -2, 3}));
    tx.write(number, -8);
    tx.write(number, tx.read(number) - 1);
    tx.write(real, 1.5);
    tx.write(flag, false);
    tx.write(pointer, &place);
    tx.write(three, three_numbers{4, -5, 6});
    EXPECT_EQ(tx.read(number), -9);
    EXPECT_EQ(tx.read(real), 1.5);
    EXPECT_FALSE(tx.read(flag));
    EXPECT_EQ(tx.read(pointer), &place);
    EXPECT_EQ(tx.read(three), (three_numbers{4, -5, 6}));
  });
  EXPECT_EQ(number.load(), -9);
  EXPECT_EQ(real.load(), 1.5);
  EXPECT_FALSE(flag.load());
  EXPECT_EQ(pointer.load(), &place);
  EXPECT_EQ(three.load(), (three_numbers{4, -5, 6}));
}

TEST_P(AtomicBlocks, AnswerWhatTheBodyReturns) {
  var<int> number{3};
  EXPECT_EQ(atomically(plain, [&](auto& tx) { return tx.read(number) + 1; }), 4);
  const auto moved = atomically(plain, [&](auto& tx) { return std::make_unique<int>(tx.read(number)); });
  EXPECT_EQ(*moved, 3);
}

TEST_P(AtomicBlocks, WithinOthersArePartOfThem) {
  var<int> number{0};
  const auto add = [&] { atomically(plain, [&](auto& tx) { tx.write(number, tx.read(number) + 1); }); };
  try {
    atomically(plain, [&](auto& tx) {
      tx.write(number, 10);
      add();
      EXPECT_EQ(tx.read(number), 11);
      throw std::runtime_error("out of both");
    });
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(number.load(), 0);
}

TEST_P(AtomicBlocks, AreUndoneByAnException) {
  var<int> number{1};
  var<int> other{2};
  static std::atomic<int> aborted{0};
  static std::atomic<int> committed{0};
  aborted = committed = 0;
  const auto body = [&](auto& tx) {
    tx.write(number, 10);
    tx.write(other, 20);
    tx.on_abort([]() noexcept { ++aborted; });
    tx.on_commit([]() noexcept { ++committed; });
    throw std::runtime_error("given up");
  };
  EXPECT_THROW(atomically(plain, body), std::runtime_error);
  EXPECT_EQ(number.load(), 1);
  EXPECT_EQ(other.load(), 2);
  EXPECT_EQ(aborted, 1);
  EXPECT_EQ(committed, 0);
}

TEST_P(AtomicBlocks, RunTheirActionsAfterTheCommitInOrder) {
  static var<int> number;
  number.store(0);
  static std::vector<int> seen;
  seen.clear();
  atomically(plain, [&](auto& tx) {
    tx.on_commit([]() noexcept { seen.push_back(number.load()); });
    tx.on_commit([]() noexcept {
      // Actions may run blocks, and these have actions of their own.
      atomically(plain, [](auto& inner) {
        inner.write(number, 7);
        inner.on_commit([]() noexcept { seen.push_back(-1); });
      });
    });
    tx.on_commit([]() noexcept { seen.push_back(number.load()); });
    tx.write(number, 5);
  });
  EXPECT_EQ(seen, (std::vector<int>{5, -1, 7}));
}

/// Counts how many of it there are.
struct counted {
  static inline std::atomic<int> living{0};
  explicit counted(int initial) : value(initial) { ++living; }
  ~counted() { --living; }
  var<int> value;
};

TEST_P(AtomicBlocks, TakeBackWhatTheyMade) {
  counted::living = 0;
  EXPECT_THROW(atomically(plain,
                          [](auto& tx) {
                            static_cast<void>(tx.template make<counted>(1));
                            static_cast<void>(tx.template make<int>(2));
                            throw std::runtime_error("given up");
                          }),
               std::runtime_error);
  EXPECT_EQ(counted::living, 0);
}

TEST_P(AtomicBlocks, TakeBackWhatAConstructorDidNotFinish) {
  struct throws {
    throws() { throw std::runtime_error("in a constructor"); }
  };
  EXPECT_THROW(atomically(plain, [](auto& tx) { static_cast<void>(tx.template make<throws>()); }), std::runtime_error);
}

TEST_P(AtomicBlocks, DestroyWhenNobodyLooksAnyMore) {
  counted::living = 0;
  std::thread([] {
    for (int i = 0; i < 1'000; ++i) {
      auto* const object = atomically(plain, [&](auto& tx) { return tx.template make<counted>(i); });
      atomically(plain, [&](auto& tx) { tx.destroy(object); });
    }
    EXPECT_LT(counted::living, 600);
  }).join();
  EXPECT_EQ(counted::living, 0);
}

TEST_P(AtomicBlocks, KeepWhatADestroyWasUndoneOf) {
  counted::living = 0;
  auto* const object = atomically(plain, [](auto& tx) { return tx.template make<counted>(1); });
  EXPECT_THROW(atomically(plain,
                          [&](auto& tx) {
                            tx.destroy(object);
                            throw std::runtime_error("given up");
                          }),
               std::runtime_error);
  EXPECT_EQ(counted::living, 1);
  atomically(plain, [&](auto& tx) { tx.destroy(object); });
}

TEST_P(AtomicBlocks, TakeTheSecondAlternativeWhereTheFirstRetries) {
  var<int> number{1};
  var<int> untouched{5};
  std::string taken;
  atomically(plain, [&](auto& tx) {
    tx.write(number, 2);
    tx.or_else(
        [&](auto& inner) {
          inner.write(number, 3);
          inner.write(untouched, 6);
          static_cast<void>(inner.template make<counted>(1));
          inner.retry();
        },
        [&](auto& inner) {
          EXPECT_EQ(inner.read(number), 2);
          EXPECT_EQ(inner.read(untouched), 5);
          inner.or_else([](auto& innermost) { innermost.retry(); }, [&](auto&) { taken = "third"; });
        });
  });
  EXPECT_EQ(taken, "third");
  EXPECT_EQ(number.load(), 2);
  EXPECT_EQ(untouched.load(), 5);
}

TEST_P(AtomicBlocks, GoOnWhenWhatTheyWaitForHasChanged) {
  static constinit stm::block waiting{"test.waiting"};
  var<int> full{0};
  var<int> other{0};
  const stm::block_totals before = stm::totals(waiting);
  std::thread consumer([&] {
    const int got = atomically(waiting, [&](auto& tx) {
      const int seen = tx.read(full);
      if (seen == 0) tx.retry();
      tx.write(full, 0);
      return seen;
    });
    EXPECT_EQ(got, 42);
  });
  while (stm::totals(waiting).waits == before.waits) std::this_thread::yield();
  atomically(plain, [&](auto& tx) { tx.write(other, 1); });
  atomically(plain, [&](auto& tx) { tx.write(full, 42); });
  consumer.join();
  EXPECT_EQ(full.load(), 0);
}

TEST_P(AtomicBlocks, DoNotCountTheirFirstWriteAsAnAbort) {
  static constinit stm::block fresh{"test.first_write"};
  fresh.forget();
  var<int> number{0};
  const stm::block_totals before = stm::totals(fresh);
  for (int i = 0; i < 3; ++i) {
    atomically(fresh, [&](auto& tx) {
      if (tx.read(number) == i) tx.write(number, i + 1);
    });
  }
  EXPECT_EQ(number.load(), 3);
  const stm::block_totals after = stm::totals(fresh);
  for (const txsync::abort_cause why : {txsync::abort_cause::validation, txsync::abort_cause::locked}) {
    EXPECT_EQ(after.aborts[static_cast<std::size_t>(why)], before.aborts[static_cast<std::size_t>(why)]);
  }
}

TEST_P(AtomicBlocks, WaitForAWordBesideOneThatTheyHaveWritten) {
  static constinit stm::block waiting{"test.waiting_beside"};
  struct alignas(64) {  // in one stripe
    var<int> asked{0};
    var<int> answered{0};
  } line;
  const stm::block_totals before = stm::totals(waiting);
  std::thread consumer([&] {
    atomically(waiting, [&](auto& tx) {
      tx.write(line.asked, 1);
      if (tx.read(line.answered) == 0) tx.retry();
    });
  });
  while (stm::totals(waiting).waits == before.waits) std::this_thread::yield();
  EXPECT_EQ(line.asked.load(), 0);
  atomically(plain, [&](auto& tx) { tx.write(line.answered, 1); });
  consumer.join();
  EXPECT_EQ(line.asked.load(), 1);
}

TEST_P(AtomicBlocks, KeepManyWrites) {
  constexpr int count = 3'000;
  std::vector<var<int>> numbers(count);
  for (int round = 1; round < 4; ++round) {
    atomically(plain, [&](auto& tx) {
      for (int i = 0; i < count; ++i) tx.write(numbers[i], -1);
      for (int i = 0; i < count; i += round) tx.write(numbers[i], i * round);
      for (int i = 0; i < count; ++i) EXPECT_EQ(tx.read(numbers[i]), i % round == 0 ? i * round : -1);
    });
    for (int i = 0; i < count; ++i) ASSERT_EQ(numbers[i].load(), i % round == 0 ? i * round : -1);
    // And a short one does not find what the long one left.
    atomically(plain, [&](auto& tx) {
      tx.write(numbers[1], 5);
      EXPECT_EQ(tx.read(numbers[0]), 0);
    });
  }
}

TEST_P(AtomicBlocks, TakeBackManyWrites) {
  constexpr int count = 3'000;
  std::vector<var<int>> numbers(count);
  const auto body = [&](auto& tx) {
    for (int i = 0; i < count; ++i) tx.write(numbers[i], 1);
    for (int i = 0; i < count; ++i) tx.write(numbers[i], 2);
    throw std::runtime_error("given up");
  };
  EXPECT_THROW(atomically(plain, body), std::runtime_error);
  for (const var<int>& one : numbers) ASSERT_EQ(one.load(), 0);
  const int sum = atomically(plain, [&](auto& tx) {
    tx.write(numbers[0], 3);
    int all = 0;
    for (const var<int>& one : numbers) all += tx.read(one);
    return all;
  });
  EXPECT_EQ(sum, 3);
}

/// Several stripes.
struct long_text {
  std::array<char, 150> letters;
};

TEST_P(AtomicBlocks, ReadLongValuesThatTheyHaveWritten) {
  var<long_text> text;
  atomically(plain, [&](auto& tx) {
    long_text made = tx.read(text);
    made.letters.fill('a');
    tx.write(text, made);
    EXPECT_EQ(tx.read(text).letters, made.letters);
    made.letters[149] = 'z';
    tx.write(text, made);
    EXPECT_EQ(tx.read(text).letters, made.letters);
  });
  EXPECT_EQ(text.load().letters[148], 'a');
  EXPECT_EQ(text.load().letters[149], 'z');
}

TEST_P(AtomicBlocks, TakeBackWhatAnAlternativeWroteOver) {
  constexpr int count = 1'000;
  std::vector<var<int>> numbers(count);
  atomically(plain, [&](auto& tx) {
    for (int i = 0; i < 100; ++i) tx.write(numbers[i], i);
    tx.or_else(
        [&](auto& inner) {
          for (int i = 50; i < count; ++i) inner.write(numbers[i], -1);
          inner.or_else(
              [&](auto& innermost) {
                for (int i = 0; i < count; ++i) innermost.write(numbers[i], -2);
                innermost.retry();
              },
              [&](auto& innermost) {
                for (int i = 0; i < count; ++i) EXPECT_EQ(innermost.read(numbers[i]), i < 50 ? i : -1);
                for (int i = 0; i < 60; ++i) innermost.write(numbers[i], -3);
              });
          for (int i = 0; i < count; ++i) EXPECT_EQ(inner.read(numbers[i]), i < 60 ? -3 : -1);
          inner.write(numbers[0], -4);
          inner.retry();
        },
        [&](auto& inner) {
          for (int i = 0; i < count; ++i) EXPECT_EQ(inner.read(numbers[i]), i < 100 ? i : 0);
          for (int i = 99; i < 300; ++i) inner.write(numbers[i], i + 1);
        });
    tx.or_else([&](auto& inner) { inner.write(numbers[0], 7); }, [&](auto& inner) { inner.write(numbers[0], 8); });
  });
  const auto wanted = [](int i) { return i == 0 ? 7 : i < 99 ? i : i < 300 ? i + 1 : 0; };
  for (int i = 0; i < count; ++i) ASSERT_EQ(numbers[i].load(), wanted(i)) << i;
}

TEST_P(AtomicBlocks, GoOnBehindAnExceptionThatTheyCatchThemselves) {
  var<int> number{1};
  atomically(plain, [&](auto& tx) {
    tx.write(number, 2);
    try {
      tx.or_else(
          [&](auto& inner) {
            inner.write(number, 3);
            throw std::runtime_error("out of the alternative");
          },
          [](auto&) {});
    } catch (const std::runtime_error&) {
      tx.write(number, tx.read(number) + 10);
    }
  });
  EXPECT_EQ(number.load(), 13);
}

/// Ends the process, as one that begins with this in the environment: 0 where that chooses `expected`.
[[noreturn]] void begin_with(const char* value, const std::string& expected) {
  stm::detail::shared.in_use = nullptr;
  setenv("TXSYNC_TM", value, 1);
  const bool first = stm::algorithm_in_use() == expected;
  const bool again = stm::algorithm_in_use() == expected;
  std::_Exit(first && again ? 0 : 1);
}

TEST(AlgorithmOfTheEnvironment, IsChosenByItsName) {
  for (const std::string& name : every_algorithm::names()) {
    EXPECT_EXIT(begin_with(name.c_str(), name), testing::ExitedWithCode(0), "^$") << name;
  }
}

TEST(AlgorithmOfTheEnvironment, IsTheDefaultAndToldOnceWhereTheNameIsUnknown) {
  std::string allowed;
  for (const std::string& name : every_algorithm::names()) allowed += (allowed.empty() ? "" : ", ") + name;
  for (const std::string value : {"bogus", ""}) {
    EXPECT_EXIT(begin_with(value.c_str(), "auto"), testing::ExitedWithCode(0),
                "^txsync: TXSYNC_TM: unknown algorithm '" + value + "'; allowed: " + allowed + "; using auto\n$");
  }
}

TEST_P(AtomicBlocks, AreWokenByAnyAlgorithm) {
  static constinit stm::block waiting{"test.waiting_across"};
  for (const std::string& other : every_algorithm::names()) {
    ASSERT_TRUE(stm::use_algorithm(GetParam()));
    var<int> full{0};
    const stm::block_totals before = stm::totals(waiting);
    std::thread consumer([&] {
      atomically(waiting, [&](auto& tx) {
        if (tx.read(full) == 0) tx.retry();
        tx.write(full, tx.read(full) + 1);
      });
    });
    while (stm::totals(waiting).waits == before.waits) std::this_thread::yield();
    ASSERT_TRUE(stm::use_algorithm(other));
    atomically(plain, [&](auto& tx) { tx.write(full, 1); });
    consumer.join();
    EXPECT_EQ(full.load(), 2);
  }
}

TEST_P(AtomicBlocks, ThrowAfterARestart) {
  var<int> number{0};
  for (int i = 0; i < 3; ++i) {
    int runs = 0;
    EXPECT_THROW(atomically(plain,
                            [&](auto& tx) {
                              ++runs;
                              tx.irrevocable();
                              tx.write(number, tx.read(number) + 1);
                              throw std::runtime_error("stays");
                            }),
                 std::runtime_error);
    EXPECT_GT(runs, 1);
    atomically(plain, [&](auto& tx) { tx.write(number, tx.read(number) + 1); });
    EXPECT_EQ(number.load(), 2 * (i + 1));
  }
}

TEST_P(AtomicBlocks, ThatTheThreadHasJustRunArePartOfTheNext) {
  static constinit stm::block inner{"test.inner_before"};
  static constinit stm::block outer{"test.outer_before"};
  var<int> number{0};
  const auto add = [&] { atomically(inner, [&](auto& tx) { tx.write(number, tx.read(number) + 1); }); };
  for (int i = 0; i < 3; ++i) {
    add();
    add();
    EXPECT_THROW(atomically(outer,
                            [&](auto&) {
                              add();
                              add();
                              throw std::runtime_error("given up");
                            }),
                 std::runtime_error);
    EXPECT_EQ(number.load(), 2 * (i + 1));
  }
}

TEST_P(AtomicBlocks, RunOnceFromWhereTheyAreIrrevocable) {
  var<int> number{0};
  int before = 0;
  int after = 0;
  atomically(plain, [&](auto& tx) {
    ++before;
    tx.write(number, tx.read(number) + 1);
    tx.irrevocable();
    ++after;
  });
  EXPECT_EQ(after, 1);
  EXPECT_GE(before, 1);
  EXPECT_EQ(number.load(), 1);
  static constinit stm::block always{"test.irrevocable", {.irrevocable = true}};
  int runs = 0;
  static std::atomic<int> committed{0};
  static std::atomic<int> aborted{0};
  committed = aborted = 0;
  EXPECT_THROW(atomically(always,
                          [&](auto& tx) {
                            ++runs;
                            tx.write(number, 9);
                            tx.on_commit([]() noexcept { ++committed; });
                            tx.on_abort([]() noexcept { ++aborted; });
                            throw std::runtime_error("stays");
                          }),
               std::runtime_error);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(number.load(), 9);
  EXPECT_EQ(committed, 1);
  EXPECT_EQ(aborted, 0);
}

TEST_P(AtomicBlocks, BecomeIrrevocableByABlockWithinThatAlwaysIs) {
  static constinit stm::block always{"test.irrevocable_within", {.irrevocable = true}};
  var<int> number{0};
  int said = 0;
  const auto before = stm::totals(plain);
  EXPECT_THROW(atomically(plain,
                          [&](auto& tx) {
                            tx.write(number, tx.read(number) + 1);
                            atomically(always, [&](auto& inner) {
                              ++said;  // stands for output
                              inner.write(number, inner.read(number) + 10);
                            });
                            throw std::runtime_error("stays");
                          }),
               std::runtime_error);
  EXPECT_EQ(said, 1);
  EXPECT_EQ(number.load(), 11);
  EXPECT_EQ(stm::totals(plain).alone, before.alone + 1);
}

TEST_P(AtomicBlocks, LoseNothingAmongManyThreads) {
  constexpr int threads = 4;
  constexpr int accounts = 16;
  constexpr int rounds = 5'000;
  static constinit stm::block moving{"test.moving"};
  static constinit stm::block adding{"test.adding"};
  std::array<var<long>, accounts> balances;
  std::atomic<bool> torn{false};
  std::vector<std::thread> team;
  for (int index = 0; index < threads; ++index) {
    team.emplace_back([&, index] {
      unsigned random = 17 + static_cast<unsigned>(index);
      for (int i = 0; i < rounds; ++i) {
        random = random * 1'664'525 + 1'013'904'223;
        const unsigned from = random >> 8 & 15;
        const unsigned to = random >> 16 & 15;
        atomically(moving, [&](auto& tx) {
          tx.write(balances[from], tx.read(balances[from]) - 1);
          tx.write(balances[to], tx.read(balances[to]) + 1);
        });
        const long sum = atomically(adding, [&](auto& tx) {
          long all = 0;
          for (const var<long>& one : balances) all += tx.read(one);
          return all;
        });
        if (sum != 0) torn = true;
      }
    });
  }
  for (std::thread& one : team) one.join();
  EXPECT_FALSE(torn);
  long sum = 0;
  for (const var<long>& one : balances) sum += one.load();
  EXPECT_EQ(sum, 0);
  EXPECT_GE(stm::totals(moving).commits, std::uint64_t{threads} * rounds);
}

}  // namespace

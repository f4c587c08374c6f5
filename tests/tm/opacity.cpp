// SPDX-License-Identifier: Apache-2.0
// What a body sees is of one moment, in attempts that do not commit too: invariants are looked at inside of the bodies
// (native machine).
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "../sanitizers.hpp"
#include "every_algorithm.hpp"

namespace {

/// Of the numbers of rounds.
constexpr int scale = under_tsan || under_asan ? 100 : 1'000;

/// In a stripe of its own.
template <class T>
struct alignas(128) lonely {
  stm::var<T> value;
};

class Opacity : public every_algorithm {
 protected:
  static constexpr int threads = 4;
  /// Threads that run beside each other, each with a generator of its own. The CPU is given up here and there within
  /// bodies, so that they overlap on two cores too.
  template <class Work>
  static void run_team(const Work& work) {
    std::atomic<int> ready{0};
    std::vector<std::thread> team;
    for (int index = 0; index < threads; ++index) {
      team.emplace_back([&work, &ready, index] {
        ++ready;
        while (ready < threads) std::this_thread::yield();
        numbers random{static_cast<unsigned>(index) + 1};
        work(index, random);
      });
    }
    for (std::thread& one : team) one.join();
  }
  struct numbers {
    unsigned state;
    unsigned next(unsigned bound) {
      state = state * 1'664'525 + 1'013'904'223;
      return (state >> 8) % bound;
    }
    void sometimes_yield() {
      if (next(16) == 0) std::this_thread::yield();
    }
  };
};
TXSYNC_FOR_EVERY_ALGORITHM(Opacity);

TEST_P(Opacity, SumsAreSeenWholeInsideOfBodies) {
  static constinit stm::block moving{"test.opacity.moving"};
  static constinit stm::block looking{"test.opacity.looking"};
  static constinit stm::block noting{"test.opacity.noting"};
  constexpr unsigned count = 12;
  constexpr int rounds = 2 * scale;
  std::array<stm::var<long>, count> parts;
  std::array<stm::var<long>, threads> sums_seen;
  std::atomic<int> torn{0};
  run_team([&](int index, numbers& random) {
    const auto sum_of_all = [&](auto& tx) {
      long sum = 0;
      for (const stm::var<long>& one : parts) {
        sum += tx.read(one);
        random.sometimes_yield();
      }
      if (sum != 0) ++torn;
      return sum;
    };
    for (int i = 0; i < rounds; ++i) {
      const unsigned from = random.next(count);
      const unsigned to = random.next(count);
      stm::atomically(moving, [&](auto& tx) {
        tx.write(parts[from], tx.read(parts[from]) - 1);
        random.sometimes_yield();
        tx.write(parts[to], tx.read(parts[to]) + 1);
        static_cast<void>(sum_of_all(tx));  // its own writes are part of what it sees
      });
      stm::atomically(looking, [&](auto& tx) { static_cast<void>(sum_of_all(tx)); });
      stm::atomically(noting, [&](auto& tx) {
        tx.write(sums_seen[index], tx.read(sums_seen[index]) + 1);
        static_cast<void>(sum_of_all(tx));
      });
    }
  });
  EXPECT_EQ(torn, 0);
  for (const stm::var<long>& one : sums_seen) EXPECT_EQ(one.load(), rounds);
}

/// Longer than a stripe.
struct same_numbers {
  std::array<std::uint64_t, 6> all;
  bool are_the_same() const {
    for (const std::uint64_t one : all) {
      if (one != all[0]) return false;
    }
    return true;
  }
};

TEST_P(Opacity, ValuesOfManyWordsAreSeenWhole) {
  static constinit stm::block stepping{"test.opacity.stepping"};
  constexpr int rounds = 12 * scale;
  std::array<stm::var<same_numbers>, 3> places;
  std::atomic<int> torn{0};
  run_team([&](int, numbers& random) {
    for (int i = 0; i < rounds; ++i) {
      stm::var<same_numbers>& chosen = places[random.next(3)];
      stm::atomically(stepping, [&](auto& tx) {
        same_numbers seen = tx.read(chosen);
        if (!seen.are_the_same()) ++torn;
        for (std::uint64_t& one : seen.all) ++one;
        tx.write(chosen, seen);
        random.sometimes_yield();
        const same_numbers again = tx.read(chosen);
        if (!again.are_the_same() || again.all[0] != seen.all[0]) ++torn;
      });
    }
  });
  EXPECT_EQ(torn, 0);
  std::uint64_t sum = 0;
  for (const stm::var<same_numbers>& one : places) sum += one.load().all[0];
  EXPECT_EQ(sum, std::uint64_t{threads} * rounds);
}

/// An object that is never written again once it has been made, and says whose it is.
struct version_of_pair {
  explicit version_of_pair(long initial) : left(initial), right(-initial) {}
  stm::var<long> left;
  stm::var<long> right;
  long plain = 7;
  ~version_of_pair() { plain = 0; }
};

TEST_P(Opacity, ObjectsThatWereReplacedAreNotTouchedAnyMore) {
  static constinit stm::block replacing{"test.opacity.replacing"};
  static constinit stm::block following{"test.opacity.following"};
  constexpr int rounds = 12 * scale;
  stm::var<version_of_pair*> first;
  stm::var<version_of_pair*> second;
  stm::atomically(replacing, [&](auto& tx) {
    tx.write(first, tx.template make<version_of_pair>(0));
    tx.write(second, tx.template make<version_of_pair>(0));
  });
  std::atomic<int> torn{0};
  run_team([&](int index, numbers& random) {
    for (int i = 0; i < rounds; ++i) {
      if (index % 2 == 0) {
        stm::atomically(replacing, [&](auto& tx) {
          version_of_pair* const old_first = tx.read(first);
          version_of_pair* const old_second = tx.read(second);
          const long value = tx.read(old_first->left) + 1;
          tx.write(first, tx.template make<version_of_pair>(value));
          random.sometimes_yield();
          tx.write(second, tx.template make<version_of_pair>(value));
          tx.destroy(old_first);
          tx.destroy(old_second);
        });
      } else {
        stm::atomically(following, [&](auto& tx) {
          const version_of_pair* const one = tx.read(first);
          random.sometimes_yield();
          const version_of_pair* const other = tx.read(second);
          if (tx.read(one->left) + tx.read(other->right) != 0) ++torn;
          if (one->plain != 7 || other->plain != 7) ++torn;
        });
      }
    }
  });
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(first.load()->left.load(), threads / 2 * rounds);
  stm::atomically(replacing, [&](auto& tx) {
    tx.destroy(tx.read(first));
    tx.destroy(tx.read(second));
  });
}

TEST_P(Opacity, AlternativesThatWereGivenUpHaveNeverBeen) {
  static constinit stm::block choosing{"test.opacity.choosing"};
  constexpr int rounds = 24 * scale;
  stm::var<long> left{0};
  stm::var<long> right{0};
  std::atomic<int> torn{0};
  run_team([&](int, numbers& random) {
    for (int i = 0; i < rounds; ++i) {
      stm::atomically(choosing, [&](auto& tx) {
        if (tx.read(left) + tx.read(right) != 0) ++torn;
        tx.write(left, tx.read(left) + 1);
        tx.or_else(
            [&](auto& inner) {
              inner.write(left, 1'000'000);
              inner.write(right, 5);
              random.sometimes_yield();
              if (inner.read(left) % 2 == 0) inner.retry();
            },
            [&](auto& inner) { inner.write(right, inner.read(right) - 1); });
        if (tx.read(left) + tx.read(right) != 0) ++torn;
      });
    }
  });
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(left.load(), threads * rounds);
  EXPECT_EQ(right.load(), -threads * rounds);
}

TEST_P(Opacity, WhatABlockHasOnlyReadIsStillSoWhenItCommits) {
  static constinit stm::block entering{"test.opacity.entering"};
  static constinit stm::block leaving{"test.opacity.leaving"};
  constexpr int rounds = 3 * scale;
  // A room for one, whose door is a flag of each thread: it reads them all, and writes its own.
  std::array<lonely<bool>, threads> is_inside;
  std::atomic<int> inside{0};
  std::atomic<int> crowded{0};
  run_team([&](int index, numbers& random) {
    for (int i = 0; i < rounds; ++i) {
      const bool entered = stm::atomically(entering, [&](auto& tx) {
        for (const lonely<bool>& one : is_inside) {
          if (tx.read(one.value)) return false;
          random.sometimes_yield();
        }
        tx.write(is_inside[index].value, true);
        random.sometimes_yield();
        return true;
      });
      if (!entered) continue;
      if (++inside != 1) ++crowded;
      random.sometimes_yield();
      --inside;
      stm::atomically(leaving, [&](auto& tx) { tx.write(is_inside[index].value, false); });
    }
  });
  EXPECT_EQ(crowded, 0);
}

TEST_P(Opacity, TheFirstTransactionOfABlockThatWritesHasReadAsTheOthers) {
  static constinit stm::block raising{"test.opacity.raising"};
  static constinit stm::block meanwhile{"test.opacity.meanwhile"};
  for (int i = 0; i < 5; ++i) {
    raising.forget();
    lonely<int> first;
    lonely<int> second;
    stm::var<int>& x = first.value;
    stm::var<int>& y = second.value;
    std::atomic<bool> has_read{false};
    std::atomic<bool> has_written{false};
    std::thread other([&] {
      while (!has_read) std::this_thread::yield();
      stm::atomically(meanwhile, [&](auto& tx) { tx.write(x, tx.read(y) + 1); });
      has_written = true;
    });
    stm::atomically(raising, [&](auto& tx) {
      const int seen = tx.read(x);
      has_read = true;
      // Not for long: some algorithms do not let the other one go on.
      for (int turn = 0; turn < 100 && !has_written; ++turn) std::this_thread::yield();
      tx.write(y, seen + 1);
    });
    other.join();
    EXPECT_EQ(x.load() + y.load(), 3);  // one after the other, whichever was first
  }
}

TEST(OpacityAcrossAlgorithms, TheyCanBeExchangedWhileThreadsRun) {
  static constinit stm::block swapping{"test.opacity.swapping"};
  constexpr int threads = 3;
  constexpr int switches = 60;
  constexpr unsigned count = 8;
  std::array<stm::var<long>, count> parts;
  std::atomic<int> torn{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> team;
  for (int index = 0; index < threads; ++index) {
    team.emplace_back([&, index] {
      unsigned at = static_cast<unsigned>(index);
      while (!stop) {
        at = at * 1'664'525 + 1'013'904'223;
        const unsigned from = at >> 8 & 7;
        const unsigned to = at >> 16 & 7;
        stm::atomically(swapping, [&](auto& tx) {
          tx.write(parts[from], tx.read(parts[from]) - 1);
          tx.write(parts[to], tx.read(parts[to]) + 1);
          long sum = 0;
          for (const stm::var<long>& one : parts) sum += tx.read(one);
          if (sum != 0) ++torn;
        });
      }
    });
  }
  const std::vector<std::string> names = every_algorithm::names();
  for (int i = 0; i < switches; ++i) {
    const stm::block_totals before = stm::totals(swapping);
    ASSERT_TRUE(stm::use_algorithm(names[static_cast<unsigned>(i * 5) % names.size()]));
    while (stm::totals(swapping).commits < before.commits + 20) std::this_thread::yield();
  }
  stop = true;
  for (std::thread& one : team) one.join();
  ASSERT_TRUE(stm::use_algorithm("dctl"));
  EXPECT_EQ(torn, 0);
  long sum = 0;
  for (const stm::var<long>& one : parts) sum += one.load();
  EXPECT_EQ(sum, 0);
}

}  // namespace

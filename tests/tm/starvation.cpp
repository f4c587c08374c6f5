// SPDX-License-Identifier: Apache-2.0
// The bounds on how often a transaction is restarted: a long one against eight short writers of what it reads (native
// machine).
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "every_algorithm.hpp"

namespace {

constexpr unsigned long_length = 2'000;
constexpr int short_writers = 8;

/// Runs body(tx, vars) in blocks of `where` against the writers; the most runs of the body that one block took.
template <class Body>
int max_runs_of(stm::block& where, int blocks, const Body& body) {
  static constinit stm::block writing{"test.starvation.writing"};
  std::vector<stm::var<long>> vars(long_length);
  std::atomic<std::uint64_t> written{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  for (int index = 0; index < short_writers; ++index) {
    writers.emplace_back([&, index] {
      unsigned at = static_cast<unsigned>(index);
      while (!stop) {
        at = at * 1'664'525 + 1'013'904'223;
        stm::var<long>& one = vars[(at >> 8) % long_length];
        stm::var<long>& other = vars[(at >> 18) % long_length];
        stm::atomically(writing, [&](auto& tx) {
          tx.write(one, tx.read(one) + 1);
          tx.write(other, tx.read(other) - 1);
        });
        ++written;
      }
    });
  }
  while (written == 0) std::this_thread::yield();
  int most = 0;
  for (int i = 0; i < blocks; ++i) {
    int runs = 0;
    stm::atomically(where, [&](auto& tx) {
      ++runs;
      body(tx, vars, [&] {
        // In the middle others get their turns, as long as they have something to do with them.
        const std::uint64_t before = written;
        for (int turn = 0; turn < 20 && written == before; ++turn) std::this_thread::yield();
      });
    });
    most = std::max(most, runs);
  }
  stop = true;
  for (std::thread& one : writers) one.join();
  return most;
}

constexpr auto sum_up = [](auto& tx, std::vector<stm::var<long>>& vars, const auto& in_the_middle) {
  long sum = 0;
  for (unsigned i = 0; i < long_length; ++i) {
    if (i == long_length / 2) in_the_middle();
    sum += tx.read(vars[i]);
  }
  EXPECT_EQ(sum, 0);  // every attempt, also one that will be restarted
};

constexpr auto write_all = [](auto& tx, std::vector<stm::var<long>>& vars, const auto& in_the_middle) {
  for (unsigned i = 0; i < long_length; ++i) {
    if (i == long_length / 2) in_the_middle();
    tx.write(vars[i], tx.read(vars[i]) + (i % 2 == 0 ? 1 : -1));
  }
};

class Starvation : public every_algorithm {};
TXSYNC_FOR_EVERY_ALGORITHM(Starvation);

TEST_P(Starvation, LongReadersCommitWithinTheAttemptsOfTheirPolicy) {
  static constinit stm::block summing{"test.starvation.summing", {.attempts = 4}};
  EXPECT_LE(max_runs_of(summing, 10, sum_up), 4 + 1);
}

TEST_P(Starvation, LongWritersCommitWithinTheAttemptsOfTheirPolicy) {
  static constinit stm::block rewriting{"test.starvation.rewriting", {.attempts = 4}};
  rewriting.now_writes();  // otherwise its first transaction runs once more, at its first write, which is no abort
  EXPECT_LE(max_runs_of(rewriting, 10, write_all), 4 + 1);
}

/// Reads much that nobody writes, and then a word that is written all the time. Each time it has checked all of its
/// reads again, that word has changed again.
TEST_P(Starvation, LongReadersOfAWordThatIsWrittenAllTheTimeCommit) {
  static constinit stm::block reading{"test.starvation.hot_word", {.attempts = 4}};
  static constinit stm::block writing{"test.starvation.hot_writing"};
  constexpr std::size_t length = 200'000;
  constexpr std::uint64_t max_writes = 20'000'000;
  struct alignas(32) apart {
    stm::var<long> value{0};
  };
  const std::vector<apart> cold(length);
  apart hot;
  std::atomic<std::uint64_t> written{0};
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    while (!stop && written < max_writes) {
      stm::atomically(writing, [&](auto& tx) { tx.write(hot.value, tx.read(hot.value) + 1); });
      ++written;
    }
  });
  while (written == 0) std::this_thread::yield();
  int runs = 0;
  stm::atomically(reading, [&](auto& tx) {
    ++runs;
    long sum = 0;
    for (const apart& one : cold) sum += tx.read(one.value);
    return sum + tx.read(hot.value);
  });
  stop = true;
  writer.join();
  EXPECT_LE(runs, 4 + 1);
  EXPECT_LT(written, max_writes) << "the reader ended when nobody wrote any more";
}

/// Without the turn to run alone: the bound of 2plsf itself, one restart for each other thread.
class StarvationFree : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(stm::use_algorithm("2plsf")); }
  void TearDown() override { ASSERT_TRUE(stm::use_algorithm("dctl")); }
};

TEST_F(StarvationFree, LongReadersAreRestartedAtMostOnceByEachOtherThread) {
  static constinit stm::block summing{"test.starvation.summing_free", {.attempts = 1'000'000}};
  EXPECT_LE(max_runs_of(summing, 50, sum_up), short_writers + 1);
  EXPECT_EQ(stm::totals(summing).alone, 0);
}

TEST_F(StarvationFree, LongWritersAreRestartedAtMostOnceByEachOtherThread) {
  static constinit stm::block rewriting{"test.starvation.rewriting_free", {.attempts = 1'000'000}};
  EXPECT_LE(max_runs_of(rewriting, 50, write_all), short_writers + 1);
  EXPECT_EQ(stm::totals(rewriting).alone, 0);
}

TEST_F(StarvationFree, AllOfManyLongWritersAre) {
  static constinit stm::block many{"test.starvation.many", {.attempts = 1'000'000}};
  constexpr int threads = 4;
  constexpr int rounds = 30;
  std::vector<stm::var<long>> vars(200);
  std::atomic<int> most{0};
  std::vector<std::thread> team;
  for (int index = 0; index < threads; ++index) {
    team.emplace_back([&, index] {
      for (int i = 0; i < rounds; ++i) {
        int runs = 0;
        stm::atomically(many, [&](auto& tx) {
          ++runs;
          // One half of them from either end, so that they meet, reading before they write.
          for (std::size_t k = 0; k < vars.size(); ++k) {
            stm::var<long>& one = vars[index % 2 == 0 ? k : vars.size() - 1 - k];
            const long seen = tx.read(one);
            if (k % 64 == 0) std::this_thread::yield();
            tx.write(one, seen + 1);
          }
        });
        int known = most;
        while (known < runs && !most.compare_exchange_weak(known, runs)) {
        }
      }
    });
  }
  for (std::thread& one : team) one.join();
  EXPECT_LE(most, threads);
  for (const stm::var<long>& one : vars) EXPECT_EQ(one.load(), threads * rounds);
}

}  // namespace

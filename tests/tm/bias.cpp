// SPDX-License-Identifier: Apache-2.0
// The gate's bias under dctl: who runs blocks alone gets it, whoever comes ends it, and a long block gives way (native
// machine). tests/mutants and `txsync explore tm-...-biased` look at the orders in which that may happen.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include <txsync/tm.hpp>

#include "tm/quiescence_gate.hpp"

namespace {

namespace stm = txsync::tm;

class GateBias : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(stm::use_algorithm("dctl")); }

  static bool is_biased() {
    const std::uintptr_t state = stm::detail::shared.quiescence_gate.load();
    return state != stm::detail::gate_open && state != stm::detail::gate_closed;
  }
  /// Runs blocks in this thread until it has the bias; others that have run some make that take longer.
  void get_bias() {
    for (int i = 0; i < 1'000'000 && !is_biased(); ++i) add(1);
    ASSERT_TRUE(is_biased());
  }
  void add(long amount) {
    stm::atomically(adding_, [&](auto& tx) { tx.write(count_, tx.read(count_) + amount); });
  }
  long count() {
    return stm::atomically(adding_, [&](auto& tx) { return tx.read(count_); });
  }

  stm::var<long> count_{0};
  stm::block adding_{"test.bias.adding"};
};

TEST_F(GateBias, GoesToWhoRunsBlocksAloneAndAwayWithTheNext) {
  get_bias();
  const long before = count();
  std::thread([&] { add(1); }).join();
  EXPECT_FALSE(is_biased());
  EXPECT_EQ(count(), before + 1);
  get_bias();
  EXPECT_TRUE(stm::use_algorithm("norec"));
  EXPECT_FALSE(is_biased());
  add(1);
}

TEST_F(GateBias, ComesSoonToAThreadThatIsNewWhateverThoseBeforeItHaveSeen) {
  std::atomic<int> there{0};
  const auto run_many = [&] {
    ++there;
    while (there < 2) std::this_thread::yield();
    for (int i = 0; i < 500'000; ++i) add(0);
  };
  std::thread first(run_many);
  std::thread second(run_many);
  first.join();
  second.join();
  int blocks = 0;
  std::thread([&] {
    for (; blocks < 1'000 && !is_biased(); ++blocks) add(0);
  }).join();
  EXPECT_LT(blocks, 1'000);
}

TEST_F(GateBias, NothingIsLostAsThreadsComeAndGo) {
  constexpr long each = 2'000;
  const long before = count();
  for (int turn = 0; turn < 5; ++turn) {
    std::thread first([&] {
      for (long i = 0; i < each; ++i) add(1);
    });
    std::thread second([&] {
      for (long i = 0; i < each / 10; ++i) {
        add(1);
        if (i % 20 == 0) std::this_thread::yield();
      }
    });
    first.join();
    second.join();
  }
  EXPECT_EQ(count(), before + 5 * (each + each / 10));
}

TEST_F(GateBias, ABlockThatReadsForeverGivesWay) {
  get_bias();
  stm::var<bool> stop{false};
  stm::block other{"test.bias.other"};
  std::atomic<int> runs{0};
  std::thread comes([&] {
    while (runs == 0) std::this_thread::yield();
    stm::atomically(other, [&](auto& tx) { tx.write(stop, true); });
  });
  const long before = count();
  stm::atomically(adding_, [&](auto& tx) {
    ++runs;
    tx.write(count_, tx.read(count_) + 1);
    while (!tx.read(stop)) {
    }
  });
  comes.join();
  EXPECT_GT(runs, 1) << "it did not see a value of its first run's future";
  EXPECT_EQ(count(), before + 1);
}

TEST_F(GateBias, ABlockThatReadsNothingMoreIsWaitedFor) {
  get_bias();
  std::atomic<bool> inside{false};
  std::atomic<bool> passed{false};
  std::thread comes([&] {
    while (!inside) std::this_thread::yield();
    add(1);
    passed = true;
  });
  const long before = count();
  stm::atomically(adding_, [&](auto& tx) {
    tx.write(count_, tx.read(count_) + 1);
    inside = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(passed);
  });
  comes.join();
  EXPECT_EQ(count(), before + 2);
}

TEST_F(GateBias, BlocksThatThrowAreUndoneAndThoseThatRetrySleep) {
  get_bias();
  const long before = count();
  EXPECT_THROW(stm::atomically(adding_,
                               [&](auto& tx) {
                                 tx.write(count_, -1L);
                                 throw std::runtime_error("given up");
                               }),
               std::runtime_error);
  EXPECT_EQ(count(), before);
  std::thread comes([&] { add(1); });
  const long seen = stm::atomically(adding_, [&](auto& tx) {
    const long now = tx.read(count_);
    if (now == before) tx.retry();
    return now;
  });
  comes.join();
  EXPECT_EQ(seen, before + 1);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// The order of hardware attempts and blocks in software, as ThreadSanitizer sees it. It reports a race here if
// src/tm/shared.hpp does not announce the order. The blocks access plain data of a node. The test itself orders them
// only by a relaxed flag, which does not synchronize.
#include <gtest/gtest.h>

#include <atomic>
#include <string_view>
#include <thread>

#include <txsync/machine/attempt.hpp>
#include <txsync/machine/environment.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/tm.hpp>

namespace {

namespace stm = txsync::tm;
namespace machine = txsync::machine;

constinit stm::block in_attempts{"test.order.attempts", {.hardware_attempts = 1'000}};
constinit stm::block by_lock{"test.order.lock", {.hardware_attempts = 0}};
constinit stm::block serial{"test.order.alone", {.irrevocable = true}};

class AttemptOrder : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(stm::use_algorithm("htm_sgl_adaptive")); }
  void TearDown() override { ASSERT_TRUE(stm::use_algorithm("dctl")); }

  struct node {
    int payload = 0;
  };

  /// `first` writes the node in one thread; then `second` writes it in another.
  static void expect_order(stm::block& first, stm::block& second) {
    static std::atomic<bool> written;
    static node* shared;
    written.store(false);
    shared = new node;
    // Not a count: the scripted machine does not undo it where an attempt is aborted.
    const auto write = [](stm::block& where, int value) {
      stm::atomically(where, [=](auto&) { shared->payload = value; });
    };
    const std::uint64_t attempts_before = stm::totals(in_attempts).hardware;
    std::thread behind([&] {
      stm::atomically(second, [](auto&) {});  // setting up for the thread's first block orders as well
      while (!written.load(std::memory_order_relaxed)) machine::yield();
      write(second, 2);
    });
    std::thread before([&] {
      stm::atomically(first, [](auto&) {});
      write(first, 1);
      written.store(true, std::memory_order_relaxed);
    });
    behind.join();
    before.join();
    EXPECT_EQ(shared->payload, 2);
    if (machine::attempts_work() && std::string_view(machine::backend_name()) == "scripted") {
      EXPECT_GE(stm::totals(in_attempts).hardware, attempts_before + 1);
    }
    delete shared;
  }
};

TEST_F(AttemptOrder, AnAttemptAndABlockBehindTheGlobalLock) { expect_order(in_attempts, by_lock); }
TEST_F(AttemptOrder, AnAttemptAndABlockThatRunsAlone) { expect_order(in_attempts, serial); }
TEST_F(AttemptOrder, ABlockBehindTheGlobalLockAndAnAttempt) { expect_order(by_lock, in_attempts); }
TEST_F(AttemptOrder, ABlockThatRunsAloneAndAnAttempt) { expect_order(serial, in_attempts); }
TEST_F(AttemptOrder, TwoAttempts) { expect_order(in_attempts, in_attempts); }

}  // namespace

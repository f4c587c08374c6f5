// SPDX-License-Identifier: Apache-2.0
// Forks beside blocks and within them: what the child of a fork can do (docs/tm/misbehaviour.md).
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>
#include <txsync/machine/thread.hpp>

#include "../locks/harness/budget.hpp"
#include "../sanitizers.hpp"
#include "every_algorithm.hpp"
#include "stuck_thread.hpp"

namespace {

using stm::atomically;
using stm::var;
namespace machine = txsync::machine;

constinit stm::block forking{"test.forking"};
constinit stm::block forking_alone{"test.forking.alone", {.irrevocable = true}};

constexpr const char* fork_message = "forked while another thread ran an atomic block";
constexpr int went_right = 17;
constexpr int went_wrong = 18;

class ForkingBodies : public every_algorithm {};
TXSYNC_FOR_EVERY_ALGORITHM(ForkingBodies);

/// In a child process that is killed where it hangs.
template <class Body>
[[noreturn]] void exit_after(const Body& body) {
  alarm(60);
  body();
  _exit(went_right);
}

/// Emulators do not tell the child of a fork by its memory (MADV_WIPEONFORK), and lose locks of their own in it.
constexpr const char* no_forks = "the emulator's forks are not the kernel's";

TEST_P(ForkingBodies, AForkBesideABlockLeavesOtherDataUsable) {
  if (conformance::maybe_emulated) GTEST_SKIP() << no_forks;
  alignas(128) var<int> taken{0};
  alignas(128) stm::hash_map<int, int> other;
  stuck_thread stuck(forking, taken);
  const auto use_other = [&] {
    for (int i = 0; i < 2'000; ++i) {
      atomically(forking, [&](auto& tx) {
        other.insert(tx, i % 8, i);
        other.erase(tx, (i + 1) % 8);
      });
    }
  };
  if (runs_side_by_side()) {
    EXPECT_EXIT(exit_after(use_other), testing::ExitedWithCode(went_right), "");
  } else {
    EXPECT_EXIT(exit_after(use_other), testing::KilledBySignal(SIGABRT), fork_message);
  }
}

TEST_P(ForkingBodies, AForkBesideABlockEndsWhatNeedsIt) {
  if (conformance::maybe_emulated) GTEST_SKIP() << no_forks;
  alignas(128) var<int> taken{0};
  alignas(128) var<int> other{0};  // not in the same stripe
  stuck_thread stuck(forking, taken);
  const auto use_taken = [&] { atomically(forking, [&](auto& tx) { tx.write(taken, tx.read(taken) + 1); }); };
  if (owns_from_the_write() || !runs_side_by_side()) {
    EXPECT_EXIT(exit_after(use_taken), testing::KilledBySignal(SIGABRT), fork_message);
  } else {
    EXPECT_EXIT(exit_after(use_taken), testing::ExitedWithCode(went_right), "");
  }
  EXPECT_EXIT(exit_after([&] { atomically(forking_alone, [&](auto& tx) { tx.write(other, 1); }); }),
              testing::KilledBySignal(SIGABRT), fork_message);
  EXPECT_EXIT(exit_after([&] { atomically(forking, [&](auto& tx) { tx.privatize(); }); }),
              testing::KilledBySignal(SIGABRT), fork_message);
}

TEST_P(ForkingBodies, AForkBesideOneThatRunsAloneEndsAllBlocks) {
  if (conformance::maybe_emulated) GTEST_SKIP() << no_forks;
  alignas(128) var<int> taken{0};
  alignas(128) var<int> other{0};  // not in the same stripe
  stuck_thread stuck(forking_alone, taken);
  EXPECT_EXIT(exit_after([&] { atomically(forking, [&](auto& tx) { tx.write(other, 1); }); }),
              testing::KilledBySignal(SIGABRT), fork_message);
}

TEST_P(ForkingBodies, ABlockMayForkAndEndsInBothProcesses) {
  if (conformance::maybe_emulated) GTEST_SKIP() << no_forks;
  var<int> number{0};
  alignas(128) var<int> other{0};  // not in the same stripe
  // In the child the waiters of the parent are gone, and with them their places in the queue.
  const auto fork_within = [&](stm::block& where) {
    pid_t child = -1;
    atomically(where, [&](auto& tx) {
      tx.write(number, 1);
      machine::yield();  // as fork() does, it ends attempts
      child = fork();
      tx.write(number, tx.read(number) + 1);
    });
    if (child == 0) {
      exit_after([&] {
        atomically(where, [&](auto& tx) { tx.write(number, tx.read(number) + 1); });
        atomically(forking_alone, [&](auto& tx) { tx.write(number, tx.read(number) + 1); });
        if (number.load() != 4) _exit(went_wrong);
      });
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == went_right);
    EXPECT_EQ(number.load(), 2);
  };
  fork_within(forking);
  fork_within(forking_alone);
}

TEST_P(ForkingBodies, ABlockMayForkBesideOneThatNeverEnds) {
  if (conformance::maybe_emulated) GTEST_SKIP() << no_forks;
  alignas(128) var<int> taken{0};
  alignas(128) var<int> number{0};  // not in the same stripe
  std::optional<stuck_thread> stuck;
  if (runs_side_by_side()) stuck.emplace(forking, taken);
  pid_t child = -1;
  atomically(forking, [&](auto& tx) {
    tx.write(number, 1);
    machine::yield();
    child = fork();
    tx.write(number, tx.read(number) + 1);
  });
  if (child == 0) {
    exit_after([&] {
      atomically(forking, [&](auto& tx) { tx.write(number, tx.read(number) + 1); });
      if (number.load() != 3) _exit(went_wrong);
    });
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == went_right);
  stuck.reset();
  atomically(forking_alone, [&](auto& tx) { tx.write(number, tx.read(number) + 1); });
  EXPECT_EQ(number.load(), 3);
}

TEST_P(ForkingBodies, ThreadsOfTheChildOfAForkWaitForEachOther) {
  if (conformance::maybe_emulated) GTEST_SKIP() << no_forks;
  if (under_tsan) GTEST_SKIP() << "it starts no threads in the child of a fork";
  var<int> number{0};
  atomically(forking, [&](auto& tx) { tx.write(number, 0); });
  EXPECT_EXIT(exit_after([&] {
                std::atomic<bool> inside{false};
                std::atomic<bool> waits{false};
                std::thread waiting([&] {
                  while (!inside) std::this_thread::yield();
                  waits = true;
                  atomically(forking, [](auto& tx) { tx.privatize(); });
                });
                // The thread that forked is the one that is waited for.
                atomically(forking, [&](auto& tx) {
                  machine::yield();  // in software from here on: an attempt cannot wait for other threads
                  tx.write(number, 1);
                  inside = true;
                  while (!waits) std::this_thread::yield();
                  std::this_thread::sleep_for(std::chrono::milliseconds(20));
                });
                waiting.join();
              }),
              testing::ExitedWithCode(went_right), "");
}

}  // namespace

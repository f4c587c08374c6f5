// SPDX-License-Identifier: Apache-2.0
// Bodies that do what they should not, or what is rare, and what becomes of it: docs/tm/misbehaviour.md, line by line.
// Kept transactions: leaked_transactions.cpp; faults: faulting_bodies.cpp; forks: forking_bodies.cpp.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>
#include <txsync/machine/thread.hpp>
#include <vector>

#include "../locks/harness/budget.hpp"
#include "../sanitizers.hpp"
#include "every_algorithm.hpp"
#include "stuck_thread.hpp"
#include "tm/runner.hpp"

namespace {

using stm::atomically;
using stm::var;
namespace machine = txsync::machine;

constinit stm::block plain{"test.misbehaviour.plain"};
constinit stm::block always_alone{"test.misbehaviour.irrevocable", {.irrevocable = true}};

constexpr const char* twice_message = "destroyed twice|second time";

class MisbehavingBodies : public every_algorithm {};
TXSYNC_FOR_EVERY_ALGORITHM(MisbehavingBodies);

// Throwing.

TEST_P(MisbehavingBodies, AnExceptionThatTheOuterBodyCatchesUndoesNothing) {
  var<int> number{0};
  atomically(plain, [&](auto& tx) {
    try {
      atomically(plain, [&](auto& inner) {
        inner.write(number, 1);
        throw 7;
      });
    } catch (int) {
      tx.write(number, tx.read(number) + 10);
    }
  });
  EXPECT_EQ(number.load(), 11);
}

TEST_P(MisbehavingBodies, AnExceptionLeavesOrElseAndTheBlock) {
  var<int> number{0};
  bool second_ran = false;
  EXPECT_THROW(atomically(plain,
                          [&](auto& tx) {
                            tx.or_else(
                                [&](auto& inner) {
                                  inner.write(number, 1);
                                  throw std::runtime_error("out of the first alternative");
                                },
                                [&](auto&) { second_ran = true; });
                          }),
               std::runtime_error);
  EXPECT_FALSE(second_ran);
  EXPECT_EQ(number.load(), 0);
  // The thread's next block does not believe that it is within an alternative.
  EXPECT_EQ(atomically(plain, [&](auto& tx) { return tx.read(number); }), 0);
}

TEST_P(MisbehavingBodies, AnExceptionOfTheSecondAlternativeUndoesBoth) {
  var<int> number{0};
  EXPECT_THROW(atomically(plain,
                          [&](auto& tx) {
                            tx.or_else(
                                [&](auto& inner) {
                                  inner.write(number, inner.read(number) + 1);
                                  inner.retry();
                                },
                                [&](auto& inner) {
                                  EXPECT_EQ(inner.read(number), 0);
                                  inner.write(number, 2);
                                  throw std::runtime_error("out of the second alternative");
                                });
                          }),
               std::runtime_error);
  EXPECT_EQ(number.load(), 0);
}

TEST_P(MisbehavingBodies, ActionsOfABlockThatWasGivenUpMayRunBlocks) {
  static var<int> number;
  number.store(0);
  EXPECT_THROW(atomically(plain,
                          [](auto& tx) {
                            tx.write(number, 5);
                            tx.on_abort([]() noexcept {
                              atomically(plain, [](auto& inner) { inner.write(number, inner.read(number) + 1); });
                            });
                            throw std::runtime_error("given up");
                          }),
               std::runtime_error);
  EXPECT_EQ(number.load(), 1);
}

// Never ending.

TEST_P(MisbehavingBodies, BlocksOnOtherDataGoOnBesideOneThatNeverEnds) {
  static constinit stm::block needing{"test.misbehaviour.needing"};
  alignas(128) var<int> taken{0};
  alignas(128) var<int> other{0};  // not in the same stripe
  const stm::block_totals before = stm::totals(needing);
  stuck_thread stuck(plain, taken);
  std::atomic<bool> passed{false};
  int seen = -1;
  std::thread needs_it([&] {
    seen = atomically(needing, [&](auto& tx) {
      const int value = tx.read(taken);
      tx.write(taken, value + 1);
      return value;
    });
    passed = true;
  });
  if (keeps_trying()) {
    // A block that fails so often asks to run alone, which here would stop everybody.
    const auto locked = static_cast<std::size_t>(txsync::abort_cause::locked);
    while (stm::totals(needing).aborts[locked] < before.aborts[locked] + needing.policy().attempts) {
      std::this_thread::yield();
    }
  }
  std::atomic<bool> others_ended{false};
  std::thread others([&] {
    for (int i = 0; i < 1'000; ++i) atomically(plain, [&](auto& tx) { tx.write(other, tx.read(other) + 1); });
    others_ended = true;
  });
  if (runs_side_by_side()) {
    others.join();
  } else {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(others_ended);
  }
  if (owns_from_the_write() || !runs_side_by_side()) {
    EXPECT_FALSE(passed);
    EXPECT_EQ(stm::totals(needing).alone, before.alone);
  }
  stuck.end();
  needs_it.join();
  if (others.joinable()) others.join();
  EXPECT_EQ(other.load(), 1'000);
  EXPECT_TRUE(seen == 1 || (!owns_from_the_write() && runs_side_by_side()));
}

TEST_P(MisbehavingBodies, WhoRunsAloneOrPrivatizesWaitsForOneThatNeverEnds) {
  alignas(128) var<int> taken{0};
  stuck_thread stuck(plain, taken);
  std::atomic<int> passed{0};
  const auto waits = [&](stm::block& where) {
    return std::thread([&] {
      atomically(where, [](auto& tx) { tx.privatize(); });
      ++passed;
    });
  };
  std::thread privatizes = waits(plain);
  std::thread runs_alone = waits(always_alone);
  std::thread chooses([&] {
    static_cast<void>(stm::use_algorithm(GetParam()));
    ++passed;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(passed, 0);
  stuck.end();
  privatizes.join();
  runs_alone.join();
  chooses.join();
  EXPECT_EQ(passed, 3);
}

// Destroying twice.

TEST_P(MisbehavingBodies, DestroyingTwiceInOneBlockEndsTheProgram) {
  int* const object = atomically(plain, [](auto& tx) { return tx.template make<int>(1); });
  EXPECT_DEATH(atomically(plain,
                          [&](auto& tx) {
                            tx.destroy(object);
                            tx.destroy(object);
                          }),
               twice_message);
  atomically(plain, [&](auto& tx) { tx.destroy(object); });
}

TEST_P(MisbehavingBodies, DestroyingTwiceInTwoBlocksEndsTheProgram) {
  const auto destroy_twice = [](bool in_another_thread) {
    auto* const object = atomically(plain, [](auto& tx) { return tx.template make<std::array<long, 4>>(); });
    const auto destroy = [&] { atomically(plain, [&](auto& tx) { tx.destroy(object); }); };
    destroy();
    if (in_another_thread) {
      std::thread(destroy).join();
    } else {
      destroy();
    }
  };
  EXPECT_DEATH(destroy_twice(false), twice_message);
  if (!under_tsan) {
    EXPECT_DEATH(destroy_twice(true), twice_message);
  }
}

TEST_P(MisbehavingBodies, DestroyingWhatNoBlockHasMadeEndsTheProgram) {
  std::array<std::uint64_t, 2> not_made{};
  EXPECT_DEATH(atomically(plain, [&](auto& tx) { tx.destroy(&not_made[1]); }), "no block has made");
}

TEST_P(MisbehavingBodies, ADestroyThatWasUndoneDoesNotCount) {
  int* const object = atomically(plain, [](auto& tx) { return tx.template make<int>(1); });
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(atomically(plain,
                            [&](auto& tx) {
                              tx.destroy(object);
                              throw 7;
                            }),
                 int);
  }
  atomically(plain, [&](auto& tx) { tx.destroy(object); });
}

// Waiting for nothing.

TEST_P(MisbehavingBodies, RetryInABlockThatHasReadNothingEndsTheProgram) {
  var<int> number{0};
  EXPECT_DEATH(atomically(plain, [](auto& tx) { tx.retry(); }), "read nothing");
  EXPECT_DEATH(atomically(plain,
                          [&](auto& tx) {
                            tx.write(number, 1);
                            tx.or_else([](auto& inner) { inner.retry(); }, [](auto& inner) { inner.retry(); });
                          }),
               "read nothing");
}

TEST_P(MisbehavingBodies, RetryInAnIrrevocableBlockEndsTheProgram) {
  var<int> number{0};
  EXPECT_DEATH(atomically(always_alone,
                          [&](auto& tx) {
                            if (tx.read(number) == 0) tx.retry();
                          }),
               "retry\\(\\) in an irrevocable block");
}

// Signals.

std::atomic<int> signals{0};

TEST_P(MisbehavingBodies, ABodyGoesOnBehindASignalHandler) {
  struct sigaction handler = {};
  struct sigaction before = {};
  handler.sa_handler = [](int) { signals.fetch_add(1); };
  ASSERT_EQ(sigaction(SIGUSR2, &handler, &before), 0);
  var<int> number{0};
  const int came_before = signals;
  atomically(plain, [&](auto& tx) {
    tx.write(number, tx.read(number) + 1);
    std::raise(SIGUSR2);
    tx.write(number, tx.read(number) + 1);
  });
  EXPECT_EQ(number.load(), 2);
  EXPECT_GE(signals, came_before + 1);
  sigaction(SIGUSR2, &before, nullptr);
}

// Running out of memory.

constexpr int right = 17;
constexpr int wrong = 18;

void limit_memory_to_more(std::size_t bytes) {
  std::ifstream statistics("/proc/self/statm");
  std::size_t pages = 0;
  statistics >> pages;
  const std::size_t most = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + bytes;
  const rlimit limit{most, most};
  if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(wrong);
}

template <class Body>
bool runs_out_of_memory(const Body& body) {
  try {
    atomically(plain, body);
  } catch (const std::bad_alloc&) {
    return true;
  }
  return false;
}

[[noreturn]] void use_up_memory() {
  using large = std::array<std::uint64_t, 4096>;
  var<int> number{0};
  stm::hash_map<int, int> map;
  stm::vector<long> grown;
  atomically(plain, [&](auto& tx) {
    map.insert(tx, -1, 1);
    grown.push_back(tx, 5);
  });
  std::vector<var<long>> many(1'000'000);
  limit_memory_to_more(std::size_t{24} << 20);
  const bool all_thrown = runs_out_of_memory([&](auto& tx) {
                            tx.write(number, 1);
                            for (;;) static_cast<void>(tx.template make<large>());
                          }) &&
                          runs_out_of_memory([&](auto& tx) {
                            map.erase(tx, -1);
                            for (int i = 0;; ++i) map.insert(tx, i, i);
                          }) &&
                          runs_out_of_memory([&](auto& tx) {
                            for (;;) grown.push_back(tx, 6);
                          }) &&
                          runs_out_of_memory([&](auto& tx) {  // of the records of what was written
                            tx.write(number, 1);
                            for (int round = 0; round < 4; ++round) {
                              for (var<long>& one : many) tx.write(one, tx.read(one) + 1);
                            }
                            // Buffers need no more for more rounds, and malloc may have had that much.
                            for (;;) static_cast<void>(tx.template make<large>());
                          });
  // All undone, and what was taken is there again.
  const bool undone = atomically(plain, [&](auto& tx) {
    long sum = 0;
    for (const var<long>& one : many) sum += one.load();
    return tx.read(number) == 0 && map.size(tx) == 1 && map.find(tx, -1) == 1 && grown.size(tx) == 1 && sum == 0;
  });
  const bool usable = !runs_out_of_memory([&](auto& tx) {
    for (int i = 0; i < 100; ++i) tx.destroy(tx.template make<large>());
  });
  _exit(all_thrown && undone && usable ? right : wrong);
}

TEST_P(MisbehavingBodies, ABlockThatRunsOutOfMemoryThrowsAndIsUndone) {
  if (under_tsan || under_asan) GTEST_SKIP() << "the sanitizer's memory is limited too";
  if (conformance::maybe_emulated) GTEST_SKIP() << "emulators do not limit memory, and use up the machine's";
  EXPECT_EXIT(use_up_memory(), testing::ExitedWithCode(right), "");
}

// Many threads, and those that come and go.

TEST_P(MisbehavingBodies, TwoHundredThreadsLoseNothing) {
  constexpr int threads = 200;
  constexpr int each = under_tsan ? 10 : 100;  // a half of all time under ThreadSanitizer
  var<long> sum{0};
  std::array<var<int>, threads> own;
  std::atomic<bool> go{false};
  std::vector<std::thread> team;
  for (int index = 0; index < threads; ++index) {
    team.emplace_back([&, index] {
      while (!go) std::this_thread::yield();
      for (int i = 0; i < each; ++i) {
        atomically(plain, [&](auto& tx) {
          auto& mine = own[static_cast<std::size_t>(index)];
          tx.write(mine, tx.read(mine) + 1);
          tx.write(sum, tx.read(sum) + 1);
        });
      }
    });
  }
  go = true;
  for (std::thread& one : team) one.join();
  EXPECT_EQ(sum.load(), threads * each);
  for (const var<int>& one : own) EXPECT_EQ(one.load(), each);
}

int count_runners() {
  int count = 0;
  for (const stm::detail::runner* one = stm::detail::runner::first(); one != nullptr; one = one->next()) ++count;
  return count;
}

TEST_P(MisbehavingBodies, ThreadsThatComeAndGoTakeOverWhatOthersLeft) {
  static std::atomic<int> living{0};
  struct counted {
    counted() { ++living; }
    ~counted() { --living; }
  };
  living = 0;
  alignas(128) var<int> taken{0};
  std::optional<stuck_thread> beside;  // in the middle of a block while the threads end
  if (runs_side_by_side()) beside.emplace(plain, taken);
  std::thread([] { atomically(plain, [](auto&) {}); }).join();
  const int runners_before = count_runners();
  for (int i = 0; i < 1'000; ++i) {
    std::thread([] {
      auto* const object = atomically(plain, [](auto& tx) { return tx.template make<counted>(); });
      atomically(plain, [&](auto& tx) { tx.destroy(object); });
    }).join();
  }
  EXPECT_EQ(count_runners(), runners_before);
  beside.reset();
  std::thread([] { atomically(plain, [](auto&) {}); }).join();
  EXPECT_EQ(living, 0);
}

// Making something one's own.

struct private_node {
  explicit private_node(int initial) : payload(initial) {}
  int payload;  // not a var: it must not change while others can see it
  var<private_node*> next{nullptr};
};

TEST_P(MisbehavingBodies, WhatABlockHasMadeItsOwnIsNotSeenByOthers) {
  constexpr int shared_value = 1;
  constexpr int private_value = 2;
  constexpr int rounds = under_tsan || under_asan ? 500 : 3'000;
  var<private_node*> first{nullptr};
  std::atomic<bool> ended{false};
  std::atomic<int> seen_private{0};
  std::vector<std::thread> readers;
  for (int index = 0; index < 2; ++index) {
    readers.emplace_back([&] {
      while (!ended) {
        const bool saw = atomically(plain, [&](auto& tx) {
          bool any = false;
          for (const private_node* at = tx.read(first); at != nullptr; at = tx.read(at->next)) {
            any = any || at->payload == private_value;
          }
          return any;
        });
        if (saw) ++seen_private;
      }
    });
  }
  for (int i = 0; i < rounds; ++i) {
    atomically(plain, [&](auto& tx) {
      for (int n = 0; n < 4; ++n) {
        auto* const fresh = tx.template make<private_node>(shared_value);
        tx.write(fresh->next, tx.read(first));
        tx.write(first, fresh);
      }
    });
    private_node* mine = atomically(plain, [&](auto& tx) {
      private_node* const all = tx.read(first);
      tx.write(first, nullptr);
      tx.privatize();
      return all;
    });
    while (mine != nullptr) {
      private_node* const next = mine->next.load();
      mine->payload = private_value;
      mine->next.store(nullptr);
      stm::destroy_unshared(mine);
      mine = next;
    }
  }
  ended = true;
  for (std::thread& one : readers) one.join();
  EXPECT_EQ(seen_private, 0);
}

}  // namespace

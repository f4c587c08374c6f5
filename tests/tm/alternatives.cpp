// SPDX-License-Identifier: Apache-2.0
// Objects that a transaction makes and gives up while it goes on. That happens in an alternative of or_else() that ends
// in retry(), or by a constructor that throws. What it has logged of their words outlives them (native machine).
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "every_algorithm.hpp"

namespace {

using stm::atomically;
using stm::var;

constinit stm::block giving_up{"test.alternatives"};

/// So many bytes that malloc maps them for themselves, and a free unmaps them.
constexpr std::size_t mapped_bytes = std::size_t{40} << 20;

class GivenUpObjects : public every_algorithm {};
TXSYNC_FOR_EVERY_ALGORITHM(GivenUpObjects);

/// Counts how many of it there are, and is not what it was behind its end.
struct mortal {
  static inline std::atomic<int> living{0};
  explicit mortal(int initial) : value(initial) { ++living; }
  ~mortal() {
    value.store(-1);
    --living;
  }
  mortal(const mortal&) = delete;
  mortal& operator=(const mortal&) = delete;
  var<int> value;
};

TEST_P(GivenUpObjects, ThatWereLookedAtDoNotKeepABlockFromSleeping) {
  static constinit stm::block waiting{"test.alternatives.waiting"};
  var<int> full{0};
  std::atomic<int> runs{0};
  const auto first = [](auto& tx) {
    auto* const one = tx.template make<mortal>(1);
    auto* const many = tx.template make_array<var<char>>(mapped_bytes / sizeof(var<char>));
    if (tx.read(one->value) == 1 && tx.read(many[0]) == 0) tx.retry();
  };
  const auto second = [&](auto& tx) {
    if (tx.read(full) == 0) tx.retry();
  };
  const stm::block_totals before = stm::totals(waiting);
  std::thread waits([&] {
    atomically(waiting, [&](auto& tx) {
      ++runs;
      tx.or_else(first, second);
    });
  });
  while (stm::totals(waiting).waits == before.waits && runs < 50) std::this_thread::yield();
  const int runs_before = runs;
  EXPECT_LT(runs_before, 50);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(runs, runs_before) << "it did not sleep";
  atomically(giving_up, [&](auto& tx) { tx.write(full, 1); });
  waits.join();
  EXPECT_EQ(mortal::living, 0);
}

TEST_P(GivenUpObjects, AreDestroyedOnceWhateverBecomesOfTheBlock) {
  for (const bool throws : {false, true}) {
    mortal* kept = nullptr;
    const auto body = [&](auto& tx) {
      kept = tx.template make<mortal>(1);
      tx.or_else(
          [&](auto& inner) {
            static_cast<void>(inner.template make<mortal>(2));
            inner.or_else(
                [](auto& innermost) {
                  innermost.write(innermost.template make<mortal>(3)->value, 4);
                  innermost.retry();
                },
                [](auto& innermost) { static_cast<void>(innermost.template make<mortal>(5)); });
            inner.retry();
          },
          [&](auto& inner) { inner.write(kept->value, 6); });
      if (throws) throw std::runtime_error("given up");
    };
    if (throws) {
      EXPECT_THROW(atomically(giving_up, body), std::runtime_error);
      EXPECT_EQ(mortal::living, 0);
    } else {
      atomically(giving_up, body);
      EXPECT_EQ(mortal::living, 1);
      EXPECT_EQ(kept->value.load(), 6);
      stm::destroy_unshared(kept);
    }
  }
}

TEST_P(GivenUpObjects, AreNotDestroyedAgain) {
  mortal* kept = nullptr;
  EXPECT_DEATH(atomically(giving_up,
                          [&](auto& tx) {
                            tx.or_else(
                                [&](auto& inner) {
                                  kept = inner.template make<mortal>(1);
                                  inner.retry();
                                },
                                [&](auto& inner) { inner.destroy(kept); });
                          }),
               "destroyed twice");
}

/// Its constructor uses the transaction, and does not end.
struct unfinished {
  template <class Tx>
  explicit unfinished(Tx& tx) {
    tx.write(value, tx.read(value) + 1);
    throw std::runtime_error("in a constructor");
  }
  var<int> value{1};
  std::array<char, mapped_bytes> large;
};

TEST_P(GivenUpObjects, WhoseConstructorsThrowMayHaveWrittenToThemselves) {
  var<int> number{0};
  EXPECT_THROW(atomically(giving_up, [](auto& tx) { static_cast<void>(tx.template make<unfinished>(tx)); }),
               std::runtime_error);
  atomically(giving_up, [&](auto& tx) {
    bool caught = false;
    try {
      static_cast<void>(tx.template make<unfinished>(tx));
    } catch (const std::runtime_error&) {
      caught = true;
    }
    if (caught) tx.write(number, 1);
  });
  EXPECT_EQ(number.load(), 1);
}

}  // namespace

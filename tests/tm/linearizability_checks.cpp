// SPDX-License-Identifier: Apache-2.0
// The linearizability checker that explorations use, by histories of a register that are right and wrong.
#include <gtest/gtest.h>

#include <vector>

#include "explorations/linearizable.hpp"

namespace {

using txsync::explorations::linearization_checker;
using txsync::explorations::operation;

/// Reads answer the value; a write stores its argument, and answers what was there.
constexpr unsigned char look = 0;
constexpr unsigned char exchange = 1;
struct register_model {
  std::uint32_t value = 0;
  std::uint32_t run(const operation& one) noexcept {
    const std::uint32_t before = value;
    if (one.what == exchange) value = one.argument;
    return before;
  }
};

struct step {
  unsigned thread;
  bool asks;
  operation what;
  std::uint32_t answer;
};
constexpr step asks(unsigned thread, unsigned char what, unsigned char argument = 0) {
  return {thread, true, {what, argument}, 0};
}
constexpr step answers(unsigned thread, std::uint32_t answer) { return {thread, false, {}, answer}; }

const char* fault_of(const std::vector<step>& history) {
  linearization_checker<register_model> checker;
  for (const step& one : history) {
    if (one.asks) {
      checker.asks(one.thread, one.what);
    } else {
      checker.answers(one.thread, one.answer);
    }
  }
  return checker.fault();
}

TEST(Linearizability, HoldsForOneAfterTheOther) {
  EXPECT_EQ(fault_of({}), nullptr);
  EXPECT_EQ(fault_of({asks(0, exchange, 5), answers(0, 0), asks(1, look), answers(1, 5), asks(0, exchange, 6),
                      answers(0, 5), asks(1, look), answers(1, 6)}),
            nullptr);
}

TEST(Linearizability, HoldsForWhatOverlapsInEitherOrder) {
  for (const std::uint32_t seen : {0u, 5u}) {
    EXPECT_EQ(fault_of({asks(0, exchange, 5), asks(1, look), answers(1, seen), answers(0, 0)}), nullptr);
    EXPECT_EQ(fault_of({asks(1, look), asks(0, exchange, 5), answers(0, 0), answers(1, seen)}), nullptr);
  }
  // Each of two has seen the other one's value, or neither has: one of them was first.
  EXPECT_NE(fault_of({asks(0, exchange, 5), asks(1, exchange, 6), answers(0, 6), answers(1, 5)}), nullptr);
  EXPECT_NE(fault_of({asks(0, exchange, 5), asks(1, exchange, 6), answers(0, 0), answers(1, 0)}), nullptr);
  EXPECT_EQ(fault_of({asks(0, exchange, 5), asks(1, exchange, 6), answers(0, 6), answers(1, 0)}), nullptr);
}

TEST(Linearizability, IsBrokenByAStaleAnswer) {
  EXPECT_STREQ(fault_of({asks(0, exchange, 5), answers(0, 0), asks(1, look), answers(1, 0)}),
               "no order of the operations explains what they answered");
}

TEST(Linearizability, IsBrokenByAnAnswerFromTheFuture) {
  EXPECT_NE(fault_of({asks(1, look), answers(1, 5), asks(0, exchange, 5), answers(0, 0)}), nullptr);
}

TEST(Linearizability, IsBrokenByTwoThatSeeTheOrderDifferently) {
  // While the exchange goes on one sees it, and after that another one does not.
  EXPECT_NE(fault_of({asks(0, exchange, 5), asks(1, look), answers(1, 5), asks(2, look), answers(2, 0), answers(0, 0)}),
            nullptr);
  EXPECT_EQ(fault_of({asks(0, exchange, 5), asks(1, look), asks(2, look), answers(1, 5), answers(2, 0), answers(0, 0)}),
            nullptr);
}

TEST(Linearizability, SaysWhereThereAreTooManyOperations) {
  std::vector<step> history;
  for (unsigned i = 0; i < 17; ++i) history.insert(history.end(), {asks(0, look), answers(0, 0)});
  EXPECT_STREQ(fault_of(history), "the history has more operations than can be checked");
  history.resize(history.size() - 2);
  EXPECT_EQ(fault_of(history), nullptr);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Without assertions there is no code for them.
#include <gtest/gtest.h>

#include <txsync/machine/assert.hpp>

namespace {

constexpr int half(int number) {
  TXSYNC_ASSERT(number % 2 == 0, "the number is even");
  return number / 2;
}
static_assert(half(4) == 2);

TEST(no_assertions, the_condition_is_evaluated_only_with_them) {
  bool looked = false;
  TXSYNC_ASSERT(looked = true, "the condition is evaluated");
  EXPECT_EQ(looked, TXSYNC_ASSERTIONS != 0);
  looked = false;
  TXSYNC_ASSERT_VALUE(looked = true, "the condition is evaluated");
  EXPECT_EQ(looked, TXSYNC_ASSERTIONS != 0);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Which thread counts in which block.
#include <gtest/gtest.h>

#include <thread>

#include "observe/ownership.hpp"

namespace {

namespace observe = txsync::observe;

/// What keeps a thread from a search among the blocks of all threads, each time in vain.
TEST(Ownerships, KnowWhetherABlockIsWithoutOwner) {
  static observe::ownerships all;
  static observe::ownership one;
  static observe::ownership other;
  observe::make_unowned(one, all);
  observe::make_unowned(other, all);
  std::thread([] {
    EXPECT_TRUE(observe::own(one));
    EXPECT_TRUE(observe::may_be_unowned(all));
    EXPECT_FALSE(observe::own(one)) << "owned twice";
    EXPECT_TRUE(observe::own(other));
    EXPECT_FALSE(observe::may_be_unowned(all));
  }).join();
}

}  // namespace

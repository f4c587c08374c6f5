// SPDX-License-Identifier: Apache-2.0
// The table of the launcher's answers: finds what it took, takes up to its limit, and then says so.
#include <gtest/gtest.h>

#include "preload/known_answers.hpp"

namespace preload = txsync::preload;

namespace {

TEST(KnownPlaces, UpToTheLimit) {
  static preload::known_answers<200> table;
  EXPECT_EQ(table.find(preload::mixed(0, 1)), 0u);
  for (std::uint64_t i = 0; i < 200; ++i) {
    EXPECT_FALSE(table.is_full());
    EXPECT_TRUE(table.remember(preload::mixed(0, 0x5555'0000 + 4 * i), i + 1));
  }
  EXPECT_TRUE(table.is_full());
  EXPECT_FALSE(table.remember(preload::mixed(0, 77), 1));
  EXPECT_EQ(table.find(preload::mixed(0, 77)), 0u);
  for (std::uint64_t i = 0; i < 200; ++i) EXPECT_EQ(table.find(preload::mixed(0, 0x5555'0000 + 4 * i)), i + 1);
}

TEST(KnownPlaces, WhatIsToldTwiceTakesRoomOnce) {
  static preload::known_answers<2> table;
  EXPECT_TRUE(table.remember(5, 1));
  EXPECT_TRUE(table.remember(5, 1));
  EXPECT_FALSE(table.is_full());
  EXPECT_EQ(table.find(5), 1u);
}

}  // namespace

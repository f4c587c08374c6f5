// SPDX-License-Identifier: Apache-2.0
// The tags that are remembered by return addresses: an address finds its own tag, or none.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "preload/known_tags.hpp"

namespace preload = txsync::preload;

namespace {

TEST(KnownTags, AreThoseOfTheirAddresses) {
  static preload::tags_by_call<64> table;
  // More than there is room for: a later one takes the place of an earlier one, and nothing is mixed up.
  std::vector<std::uintptr_t> calls;
  for (std::uintptr_t i = 0; i < 200; ++i) calls.push_back(0x5555'0000'1000 + 5 * i);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(table.find(calls[i]), 0u);
    table.remember(calls[i], static_cast<std::uint16_t>(i + 1));
    EXPECT_EQ(table.find(calls[i]), i + 1);
  }
  std::size_t found = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::uint16_t tag = table.find(calls[i]);
    EXPECT_TRUE(tag == 0 || tag == i + 1) << tag;
    found += tag != 0 ? 1u : 0u;
  }
  EXPECT_GT(found, 32u);
  EXPECT_LE(found, 64u);
  table.forget();
  for (const std::uintptr_t call : calls) EXPECT_EQ(table.find(call), 0u);
}

TEST(KnownTags, ATagMayChangeAndHaveAllBits) {
  static preload::tags_by_call<64> table;
  table.remember(0x1000, 0xFFFF);
  EXPECT_EQ(table.find(0x1000), 0xFFFFu);
  EXPECT_EQ(table.find(0x1001), 0u);
  table.remember(0x1000, 1);
  EXPECT_EQ(table.find(0x1000), 1u);
}

TEST(KnownTags, AddressesOfMoreThan48BitsAreNotCutOff) {
  static preload::tags_by_call<64> table;
  const std::uintptr_t address = 0x7FFF'1234'5678;
  table.remember(address | std::uintptr_t{1} << 48, 7);
  EXPECT_EQ(table.find(address), 0u);
  EXPECT_EQ(table.find(address | std::uintptr_t{1} << 48), 0u);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// The write buffer against a map of the standard library.
#include "tm/write_set.hpp"

#include <gtest/gtest.h>

#include <unordered_map>
#include <vector>

namespace {

using txsync::tm::detail::write_set;

TEST(WriteSet, FindsWhatWasPutAndNothingElse) {
  std::vector<txsync::tm::word> cells(3'000);
  write_set set;
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.find(cells[0]), nullptr);
  unsigned random = 5;
  for (int round = 0; round < 40; ++round) {
    std::unordered_map<const txsync::tm::word*, std::uint64_t> model;
    const int puts = round % 8 == 7 ? 4'000 : 1 << round % 8;
    for (int i = 0; i < puts; ++i) {
      random = random * 1'664'525 + 1'013'904'223;
      txsync::tm::word& cell = cells[(random >> 8) % cells.size()];
      const bool is_new = model.insert_or_assign(&cell, random).second;
      EXPECT_EQ(set.put(cell, random, false) == write_set::outcome::added, is_new);
    }
    ASSERT_EQ(set.size(), model.size());
    for (const txsync::tm::word& cell : cells) {
      const std::uint64_t* const found = set.find(cell);
      const auto wanted = model.find(&cell);
      ASSERT_EQ(found != nullptr, wanted != model.end());
      ASSERT_TRUE(found == nullptr || *found == wanted->second);
    }
    set.clear();
    EXPECT_TRUE(set.empty());
  }
}

TEST(WriteSet, GoesBackToWhereItWas) {
  std::vector<txsync::tm::word> cells(600);
  write_set set;
  unsigned random = 6;
  const auto put_some = [&](int puts) {
    for (int i = 0; i < puts; ++i) {
      random = random * 1'664'525 + 1'013'904'223;
      set.put(cells[(random >> 8) % cells.size()], random, true);
    }
  };
  for (int round = 0; round < 50; ++round) {
    set.clear();
    put_some(round);
    std::unordered_map<const txsync::tm::word*, std::uint64_t> before;
    for (const auto& one : set) before.emplace(one.cell, one.value);
    const std::size_t size = set.size();
    const std::size_t replaced = set.replaced();
    for (int again = 0; again < 3; ++again) {
      put_some(again * 150);  // it grows here too
      set.roll_back_to(size, replaced);
      ASSERT_EQ(set.size(), before.size());
      for (const txsync::tm::word& cell : cells) {
        const std::uint64_t* const found = set.find(cell);
        const auto wanted = before.find(&cell);
        ASSERT_EQ(found != nullptr, wanted != before.end());
        ASSERT_TRUE(found == nullptr || *found == wanted->second);
      }
    }
  }
}

/// What was put under a generation means nothing when that number comes again.
TEST(WriteSet, ForgetsWhatItHeldWhenItsGenerationsBeginAnew) {
  std::vector<txsync::tm::word> cells(30);
  write_set set;
  const auto put_all = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) set.put(cells[i], i, false);
  };
  put_all(0, 20);  // under the first generation
  set.clear();
  set.count_all_but_one_generation();
  put_all(10, 30);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(set.find(cells[i]), nullptr) << i;
  set.clear();  // and under the first one again
  put_all(25, 26);
  for (std::size_t i = 0; i < cells.size(); ++i) EXPECT_EQ(set.find(cells[i]) != nullptr, i == 25) << i;
}

TEST(WriteSet, StoresTheLastValueOfEach) {
  std::vector<txsync::tm::word> cells(100);
  write_set set;
  for (std::uint64_t i = 0; i < 250; ++i) set.put(cells[i % 90], i, false);
  set.store_all();
  for (std::uint64_t i = 0; i < 90; ++i) EXPECT_EQ(cells[i].load(), i < 70 ? 180 + i : 90 + i);
  for (std::uint64_t i = 90; i < 100; ++i) EXPECT_EQ(cells[i].load(), 0);
}

}  // namespace

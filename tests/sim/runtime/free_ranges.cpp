// SPDX-License-Identifier: Apache-2.0
// Ranges that are free, against a map of every unit.
#include "sim/runtime/free_ranges.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <vector>

namespace txsync::sim {

// The runtime's own reserves at fixed places, and for good.
void* reserve(std::uintptr_t, std::size_t bytes, const char*) noexcept {
  static std::deque<std::vector<std::uint64_t>> all;
  return all.emplace_back((bytes + 7) / 8).data();
}

namespace {

constexpr std::uintptr_t units = 64;

/// The first run of free units that begins at a multiple of `alignment`; 0: there is none.
std::uintptr_t first_fit(const std::vector<bool>& is_free, std::size_t bytes, std::size_t alignment) {
  for (std::uintptr_t start = alignment; start + bytes <= units; start += alignment) {
    std::size_t length = 0;
    while (length < bytes && is_free[start + length]) ++length;
    if (length == bytes) return start;
  }
  return 0;
}

TEST(FreeRanges, AreThoseOfAMapOfAllUnits) {
  std::mt19937 draw(1);
  free_ranges tested;
  tested.reserve_for(units, "test");
  std::vector<bool> is_free(units, false);
  unsigned taken = 0;
  for (unsigned step = 0; step < 20'000; ++step) {
    const std::uintptr_t from = 1 + draw() % (units - 1);
    const std::uintptr_t end = from + 1 + draw() % (units - from) / (1 + draw() % 8);
    switch (draw() % 3) {
      case 0: {
        const std::size_t bytes = 1 + draw() % 8;
        const std::size_t alignment = std::size_t{1} << draw() % 3;
        const std::uintptr_t expected = first_fit(is_free, bytes, alignment);
        ASSERT_EQ(tested.take(bytes, alignment), expected) << "step " << step;
        for (std::size_t i = 0; expected != 0 && i < bytes; ++i) is_free[expected + i] = false;
        taken += expected != 0 ? 1 : 0;
        break;
      }
      case 1:
        tested.add(from, end);
        for (std::uintptr_t i = from; i < end; ++i) is_free[i] = true;
        break;
      default:
        tested.remove(from, end);
        for (std::uintptr_t i = from; i < end; ++i) is_free[i] = false;
        break;
    }
  }
  EXPECT_GT(taken, 1000u);
}

TEST(FreeRanges, WhatFindsNoRoomIsForgotten) {
  free_ranges tested;
  tested.reserve_for(2, "test");
  for (std::uintptr_t from : {10, 20, 30}) tested.add(from, from + 5);
  EXPECT_EQ(tested.take(5, 1), 10u);
  EXPECT_EQ(tested.take(5, 1), 20u);
  EXPECT_EQ(tested.take(5, 1), 0u);
}

}  // namespace

}  // namespace txsync::sim

// SPDX-License-Identifier: Apache-2.0
// A cache's tags against lists in the order of use, which is what they stand for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <random>
#include <vector>

#include "sim/runtime/caches.hpp"

namespace txsync::sim {

// The runtime's own reserves at fixed places, and for good.
void* reserve(std::uintptr_t, std::size_t bytes, const char*) noexcept {
  struct alignas(64) block {
    std::byte bytes[64];
  };
  static std::deque<std::vector<block>> all;
  return all.emplace_back((bytes + sizeof(block) - 1) / sizeof(block)).data();
}

namespace {

/// The most recently used line first.
class listed_cache {
 public:
  listed_cache(unsigned sets, unsigned ways) : sets_(sets), ways_(ways) {}

  bool use(line_number line) {
    std::vector<line_number>& set = of(line);
    const auto found = std::find(set.begin(), set.end(), line);
    if (found == set.end()) return false;
    std::rotate(set.begin(), found, found + 1);
    return true;
  }
  void remove(line_number line) {
    std::vector<line_number>& set = of(line);
    set.erase(std::remove(set.begin(), set.end(), line), set.end());
  }
  template <class Keep>
  std::uint64_t insert(line_number line, Keep keep) {
    std::vector<line_number>& set = of(line);
    std::uint64_t left = tag_array::nothing_left;
    if (set.size() == ways_) {
      std::size_t at = ways_ - 1;
      for (unsigned tried = 0; tried < 2 * ways_ && keep(set[at]); ++tried) at = at == 0 ? ways_ - 1 : at - 1;
      left = set[at];
      set.erase(set.begin() + static_cast<std::ptrdiff_t>(at));
    }
    set.insert(set.begin(), line);
    return left;
  }

 private:
  std::vector<line_number>& of(line_number line) { return lines_[line % sets_]; }

  std::map<line_number, std::vector<line_number>> lines_;
  unsigned sets_;
  unsigned ways_;
};

struct shape {
  unsigned sets;
  unsigned ways;
};

class TagArrays : public testing::TestWithParam<shape> {};

TEST_P(TagArrays, KeepWhatListsInOrderOfUseKeep) {
  const auto [sets, ways] = GetParam();
  tag_array cache;
  cache.set_up(std::uint64_t{sets} * ways * 64, ways, 64);
  ASSERT_EQ(cache.sets(), sets);
  listed_cache list(sets, ways);
  std::minstd_rand random(sets + ways);
  unsigned evictions = 0;
  for (unsigned step = 0; step < 200'000; ++step) {
    const auto line = static_cast<line_number>(random() % (sets * ways * 2));
    const unsigned what = random() % 16;
    if (what == 0) {
      cache.remove(line);
      list.remove(line);
      continue;
    }
    const bool there = cache.has(line);
    ASSERT_EQ(cache.use(line), there);
    ASSERT_EQ(list.use(line), there) << step;
    if (there) continue;
    // Lines that stay: none, some, all. The same questions have to be asked in the same order.
    const unsigned stays = what < 4 ? 0 : what < 15 ? 3 : 1;
    std::vector<line_number> asked;
    std::vector<line_number> expected;
    const auto keep_in = [&](std::vector<line_number>& questions) {
      return [&questions, stays](line_number candidate) {
        questions.push_back(candidate);
        return stays != 0 && candidate % stays == 0;
      };
    };
    const std::uint64_t left = cache.insert(line, keep_in(asked));
    ASSERT_EQ(left, list.insert(line, keep_in(expected))) << step;
    ASSERT_EQ(asked, expected) << step;
    evictions += left != tag_array::nothing_left ? 1 : 0;
  }
  EXPECT_GT(evictions, 1000u);
}

INSTANTIATE_TEST_SUITE_P(Shapes, TagArrays,
                         testing::Values(shape{1, 1}, shape{64, 8}, shape{16, 4}, shape{3, 20}, shape{8, 11},
                                         shape{1, 64}, shape{128, 2}),
                         [](const auto& one) {
                           return std::to_string(one.param.sets) + "x" + std::to_string(one.param.ways);
                         });

TEST(TagArrays, BeginNewStampsWhereTheyAreUsedUp) {
  tag_array cache;
  cache.set_up(64 * 8, 8, 64);
  const auto none_stays = [](line_number) { return false; };
  for (line_number line = 0; line < 8; ++line) cache.insert(line, none_stays);
  cache.remove(3);
  cache.start_near_the_last_stamp();
  for (unsigned round = 0; round < 4; ++round) {
    for (const line_number line : {5u, 1u, 7u, 0u, 2u, 6u, 4u}) ASSERT_TRUE(cache.use(line));
  }
  EXPECT_EQ(cache.insert(100, none_stays), tag_array::nothing_left);
  for (const line_number line : {5u, 1u, 7u, 0u, 2u, 6u, 4u, 100u}) {
    EXPECT_EQ(cache.insert(line + 200, none_stays), line);
  }
}

}  // namespace
}  // namespace txsync::sim

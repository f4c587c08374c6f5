// SPDX-License-Identifier: Apache-2.0
// The numbers of sites: dense, one for each, the same for threads that come at once, and none past the limit.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <set>
#include <thread>
#include <vector>

#include <txsync/observe/counters.hpp>
#include <txsync/site.hpp>

namespace {

constexpr std::size_t threads = 4, sites = 1000;
using numbers = std::array<std::uint32_t, sites>;

/// What each of the threads is told, which come to each site at once.
std::array<numbers, threads> numbers_told_at_once(std::deque<txsync::site>& places) {
  std::array<numbers, threads> told{};
  std::array<std::atomic<std::size_t>, sites> arrived{};
  std::vector<std::thread> all;
  for (numbers& mine : told)
    all.emplace_back([&] {
      for (std::size_t i = 0; i < sites; ++i) {
        ++arrived[i];
        while (arrived[i] != threads) std::this_thread::yield();
        mine[i] = places[i].id();
      }
    });
  for (std::thread& one : all) one.join();
  return told;
}

}  // namespace

// Never destroyed: the library's list keeps them.
TEST(site_numbers, are_the_same_for_threads_that_come_at_once) {
  static std::deque<txsync::site> places;
  for (std::size_t i = 0; i < sites; ++i) places.emplace_back("at once");
  const std::uint32_t before = txsync::observe::snapshot(nullptr, 0);
  const std::array<numbers, threads> told = numbers_told_at_once(places);
  for (const numbers& one : told) EXPECT_EQ(one, told[0]);
  const std::set<std::uint32_t> different(told[0].begin(), told[0].end());
  EXPECT_EQ(different.size(), sites);
  EXPECT_EQ(*different.begin(), before + 1);
  EXPECT_EQ(*different.rbegin(), before + sites);
  EXPECT_EQ(txsync::observe::snapshot(nullptr, 0), before + sites);
}

TEST(site_numbers, end_at_the_limit) {
  static std::deque<txsync::site> places;
  const std::uint32_t before = txsync::observe::snapshot(nullptr, 0);
  for (std::uint32_t id = before + 1; id <= txsync::site::site_limit; ++id)
    ASSERT_EQ(places.emplace_back("one of many").id(), id);
  EXPECT_EQ(places.emplace_back("one too many").id(), 0u);
  EXPECT_EQ(places.back().id(), 0u);
  EXPECT_EQ(txsync::observe::snapshot(nullptr, 0), txsync::site::site_limit);
}

// SPDX-License-Identifier: Apache-2.0
// YCSB's operations and records: their frequencies beside what the distributions say.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <thread>
#include <vector>

#include "workloads/generators/ycsb.hpp"

namespace {

using namespace txsync::workloads;

constexpr unsigned draws = 200'000;

TEST(Ycsb, HashesAsFnvDoes) {
  // By another program, of FNV-1a over eight bytes, then the amount of it as a signed number.
  EXPECT_EQ(ycsb::fnv_hash(0), 6284781860667377211u);
  EXPECT_EQ(ycsb::fnv_hash(1), 8517097267634966620u);
  EXPECT_EQ(ycsb::fnv_hash(123456789), 2350796791908741607u);
}

TEST(Ycsb, RanksAreZipfian) {
  constexpr std::uint64_t items = 1'000;
  double sum = 0;
  for (unsigned i = 1; i <= items; ++i) sum += 1 / std::pow(i, ycsb::zipfian::theta);
  const ycsb::zipfian ranks(items);
  random_stream random(1, 0);
  std::vector<unsigned> seen(items);
  for (unsigned i = 0; i < draws; ++i) ++seen.at(ranks.draw(random));
  EXPECT_NEAR(seen[0] * sum / draws, 1, 0.03);
  EXPECT_NEAR(seen[1] * sum * std::pow(2, ycsb::zipfian::theta) / draws, 1, 0.04);
  unsigned tail = 0;
  double expected = 0;
  for (unsigned i = 100; i < items; ++i) {
    tail += seen[i];
    expected += 1 / std::pow(i + 1, ycsb::zipfian::theta) / sum;
  }
  EXPECT_NEAR(tail / expected / draws, 1, 0.05);
}

TEST(Ycsb, GrowingIsStartingLarger) {
  ycsb::zipfian grown(10);
  grown.grow(500);
  const ycsb::zipfian large(500);
  random_stream one(3, 0);
  random_stream other(3, 0);
  for (unsigned i = 0; i < 1'000; ++i) EXPECT_EQ(grown.draw(one), large.draw(other));
}

TEST(Ycsb, MixesAreAsPublished) {
  for (const ycsb::mix& one : ycsb::mixes) {
    SCOPED_TRACE(std::string(one.name));
    random_stream random(1, 0);
    std::map<ycsb::operation, double> seen;
    for (unsigned i = 0; i < draws; ++i) seen[one.draw(random)] += 100.0 / draws;
    EXPECT_NEAR(seen[ycsb::operation::read], one.read, 0.6);
    EXPECT_NEAR(seen[ycsb::operation::update], one.update, 0.6);
    EXPECT_NEAR(seen[ycsb::operation::insert], one.insert, 0.6);
    EXPECT_NEAR(seen[ycsb::operation::scan], one.scan, 0.6);
  }
}

TEST(Ycsb, RecordsThatAreThereAreDrawn) {
  constexpr std::uint64_t records = 1'000;
  random_stream random(1, 0);
  ycsb::record_stream spread(ycsb::choice::zipfian, records, 2 * records);
  ycsb::record_stream recent(ycsb::choice::latest, records, records);
  std::uint64_t newest = 0;
  for (unsigned i = 0; i < 20'000; ++i) {
    EXPECT_LT(spread.draw(random, records), records);
    const std::uint64_t record = recent.draw(random, records + i % 100);
    EXPECT_LT(record, records + i % 100);
    if (record + 10 >= records + i % 100) ++newest;
  }
  EXPECT_GT(newest, 20'000u / 4);
}

TEST(Ycsb, InsertedRecordsAreThereOnceAllBeforeAre) {
  ycsb::record_count count(10);
  EXPECT_EQ(count.there(2), 10u);
  const std::uint64_t first = count.begin_insert(0);
  const std::uint64_t second = count.begin_insert(1);
  EXPECT_EQ(first, 10u);
  EXPECT_EQ(second, 11u);
  count.inserted(1);
  EXPECT_EQ(count.there(2), 10u);
  count.inserted(0);
  EXPECT_EQ(count.there(2), 12u);
}

}  // namespace

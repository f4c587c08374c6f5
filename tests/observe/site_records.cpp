// SPDX-License-Identifier: Apache-2.0
// What sites counted, written as records of a simulated run and read again.
#include "observe/site_records.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include <txsync/machine/attempt.hpp>
#include <txsync/tm.hpp>

#include "observe/document/recorded_sites.hpp"
#include "sim/protocol.hpp"
#include "site_totals.hpp"

namespace observe = txsync::observe;

namespace {

std::map<std::string, std::uint64_t> records;

/// As the runtime writes what a program records.
void write(const char* name, std::uint64_t value) {
  records[std::string(txsync::sim::number_record::program) + name] = value;
}

const observe::site_record& site_of(const std::vector<observe::site_record>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  EXPECT_NE(found, all.end()) << name;
  return *found;
}

}  // namespace

TEST(SiteRecords, AreReadAsTheyWereWritten) {
  static constinit txsync::site first{"records.first of two"};
  static constinit txsync::site other{"records.other"};
  observe::detail::spun(first.id(), 1'000);
  observe::detail::spun(first.id(), 3'000);
  observe::detail::spun(other.id(), 500);
  records.clear();
  observe::record_attempts(write);
  const std::vector<observe::site_record> all = observe::recorded_sites(records);
  EXPECT_EQ(site_of(all, "records.first of two").contended, 2u);
  EXPECT_EQ(site_of(all, "records.first of two").wait_ns, totals_of(first).wait_ns);
  EXPECT_EQ(site_of(all, "records.first of two").max_wait_ns, totals_of(first).max_wait_ns);
  EXPECT_EQ(site_of(all, "records.other").contended, 1u);
}

TEST(SiteRecords, HaveThePathOfABlock) {
  static constinit txsync::tm::block adding{"records.adding"};
  txsync::tm::var<int> sum{0};
  EXPECT_TRUE(txsync::tm::use_algorithm("htm_sgl_adaptive"));  // as long as a name can be
  txsync::tm::atomically(adding, [&](auto& tx) { tx.write(sum, 1); });
  records.clear();
  observe::record_attempts(write);
  const observe::site_record site = site_of(observe::recorded_sites(records), "records.adding");
  ASSERT_TRUE(site.path.has_value());
  const observe::path_record path = site.path.value_or(observe::path_record());
  EXPECT_EQ(path.algorithm, "htm_sgl_adaptive");
  EXPECT_EQ(path.in_hardware, txsync::machine::attempts_work());
  EXPECT_EQ(path.reason, txsync::machine::attempts_work() ? "algorithm" : "no-hardware");
  EXPECT_NE(path.noted, 0u);
  // A place without a block has none.
  static constinit txsync::site lock{"records.lock"};
  observe::detail::spun(lock.id(), 1'000);
  records.clear();
  observe::record_attempts(write);
  EXPECT_FALSE(site_of(observe::recorded_sites(records), "records.lock").path.has_value());
}

TEST(SiteRecords, EachMemberHasANameOfItsOwn) {
  observe::site_totals totals;
  std::map<std::string, int> names;
  observe::each_site_number(totals, [&](const char* member, std::uint64_t& number) {
    EXPECT_EQ(number, 0u);
    number = ++names[member];
  });
  observe::each_abort_group(totals, [&](const char* group, const auto&) { ++names[group]; });
  for (const auto& [name, times] : names) {
    EXPECT_EQ(times, 1) << name;
    EXPECT_NE(name, observe::heeded_member);
    EXPECT_FALSE(name.starts_with(observe::name_group)) << name;
  }
  observe::each_site_number(totals, [](const char* member, std::uint64_t number) { EXPECT_EQ(number, 1u) << member; });
}

TEST(SiteRecords, OthersAreIgnored) {
  records = {{"program.operations", 3},
             {"time_cycles", 5},
             {"program.sites.01.is.one", 1},
             {"program.sites.01.later", 7},
             {"program.sites.01.contended", 2}};
  const std::vector<observe::site_record> all = observe::recorded_sites(records);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].contended, 2u);
}

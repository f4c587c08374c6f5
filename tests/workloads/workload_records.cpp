// SPDX-License-Identifier: Apache-2.0
// What is written about workloads and subjects: names, parameters, presets, text; and the histogram.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

#include "policy/presets.hpp"
#include "workloads/generators/text.hpp"
#include "workloads/harness/histogram.hpp"
#include "workloads/harness/workload.hpp"

namespace {

namespace w = txsync::workloads;

const w::workload& arraybench() { return *w::find_workload("arraybench"); }

TEST(Workloads, AreFoundByNameAndKnowTheirPosition) {
  ASSERT_EQ(w::workloads().size(), w::workload_count);
  std::set<std::string> names;
  for (unsigned i = 0; i < w::workload_count; ++i) {
    const w::workload& one = w::workloads()[i];
    EXPECT_TRUE(names.insert(one.name).second) << one.name << " twice";
    EXPECT_EQ(w::find_workload(one.name), &one);
    EXPECT_EQ(static_cast<unsigned>(w::id_of(one)), i);
    EXPECT_LE(one.keys.size(), w::max_parameters);
  }
  EXPECT_EQ(w::find_workload("arraybenc"), nullptr);
  EXPECT_STREQ(w::workloads()[static_cast<unsigned>(w::workload_id::counter_array)].name, "counter-array");
  EXPECT_STREQ(w::workloads()[static_cast<unsigned>(w::workload_id::readers)].name, "readers");
  EXPECT_STREQ(w::workloads()[static_cast<unsigned>(w::workload_id::lock_array)].name, "lock-array");
  EXPECT_STREQ(w::workloads()[static_cast<unsigned>(w::workload_id::hashmap)].name, "hashmap");
  EXPECT_STREQ(w::workloads()[static_cast<unsigned>(w::workload_id::cache)].name, "cache");
}

TEST(Workloads, FallbacksAreInRange) {
  for (const w::workload& one : w::workloads()) {
    EXPECT_EQ(w::complaint(one, w::default_parameters(one)), nullptr) << one.name;
    for (const w::parameter& key : one.keys) {
      EXPECT_LE(key.least, key.greatest) << one.name << ' ' << key.key;
      if (!key.names.empty()) {
        EXPECT_EQ(key.greatest, key.names.size() - 1) << one.name << ' ' << key.key;
      }
    }
  }
}

TEST(Workloads, PresetsNameParametersAndStayInRange) {
  for (const w::workload& one : w::workloads()) {
    std::set<std::string> names;
    EXPECT_FALSE(one.presets.empty()) << one.name;
    for (const w::preset& chosen : one.presets) {
      SCOPED_TRACE(std::string(one.name) + " preset=" + chosen.name);
      EXPECT_TRUE(names.insert(chosen.name).second) << "twice";
      EXPECT_EQ(w::find_preset(one, chosen.name), &chosen);
      EXPECT_NE(std::strlen(chosen.source), 0U);
      const w::parameters values = w::preset_parameters(one, chosen);
      EXPECT_EQ(w::complaint(one, values), nullptr);
      for (const w::setting& pair : chosen.settings) {
        const int index = w::find_parameter(one, pair.key);
        ASSERT_GE(index, 0) << pair.key;
        EXPECT_EQ(values.values[index], pair.value);
      }
    }
    EXPECT_EQ(w::find_preset(one, "no such preset"), nullptr);
  }
}

TEST(Workloads, PapersParametersAreThePresets) {
  const auto value = [](const char* workload, const char* preset, const char* key) {
    const w::workload& one = *w::find_workload(workload);
    const w::parameters values = w::preset_parameters(one, *w::find_preset(one, preset));
    const int index = w::find_parameter(one, key);
    return w::value_text(one.keys[static_cast<std::size_t>(index)], values.values[index]);
  };
  EXPECT_EQ(value("arraybench", "large-high", "writes"), "100");
  EXPECT_EQ(value("arraybench", "large-high", "contention"), "high");
  EXPECT_EQ(value("arraybench", "large-high", "ints"), "1048576");
  EXPECT_EQ(value("arraybench", "small-low", "writes"), "10");
  EXPECT_EQ(value("arraybench", "hazard", "ints"), "160");  // 10 lines of 64 bytes
  EXPECT_EQ(value("mapbench", "10m-50", "keys"), "10000000");
  EXPECT_EQ(value("mapbench", "10m-50", "find"), "0");
  EXPECT_EQ(value("mapbench", "10k-10", "find"), "80");
  EXPECT_EQ(value("counters", "global", "layout"), "per-core-global");
  EXPECT_EQ(value("cache", "get-90", "gets"), "90");
  EXPECT_EQ(value("cache", "get-50", "value"), "128");
  EXPECT_EQ(value("cache", "get-50", "locking"), "global");
  EXPECT_EQ(value("counter-array", "fine-64", "locking"), "fine");
  const w::preset& levels = *w::find_preset(*w::find_workload("counter-array"), "coarse-64");
  EXPECT_EQ(levels.threads, 8U);
  EXPECT_EQ(levels.operations_per_thread, 1'000'000U);
}

TEST(Parameters, OutOfRangeIsAComplaint) {
  const w::workload& one = arraybench();
  for (unsigned i = 0; i < one.keys.size(); ++i) {
    w::parameters values = w::default_parameters(one);
    values.values[i] = one.keys[i].greatest + 1;
    EXPECT_NE(w::complaint(one, values), nullptr) << one.keys[i].key;
    values.values[i] = one.keys[i].greatest;
    EXPECT_EQ(w::complaint(one, values), nullptr) << one.keys[i].key;
  }
  w::parameters none = w::default_parameters(one);
  none.values[0] = 0;  // no elements
  EXPECT_NE(w::complaint(one, none), nullptr);
}

TEST(Parameters, PercentagesMustAddUp) {
  const w::workload& map = *w::find_workload("mapbench");
  w::parameters values = w::default_parameters(map);
  ASSERT_EQ(w::assign(map, "find=70", values), "");
  ASSERT_NE(w::complaint(map, values), nullptr);
  ASSERT_EQ(w::assign(map, "insert=20", values), "");
  EXPECT_EQ(w::complaint(map, values), nullptr);
}

TEST(Plans, ThreadsOutOfRangeAreAComplaint) {
  w::plan how;
  const w::parameters values = w::default_parameters(arraybench());
  EXPECT_EQ(w::complaint(arraybench(), values, how), nullptr);
  how.threads = 0;
  EXPECT_NE(w::complaint(arraybench(), values, how), nullptr);
  how.threads = w::max_threads + 1;
  EXPECT_NE(w::complaint(arraybench(), values, how), nullptr);
}

TEST(Plans, SocketsThatAreNotThereAreAComplaint) {
  w::plan how;
  how.placement = txsync::machine::placement::socket;
  how.socket = txsync::machine::socket_count();
  EXPECT_NE(w::complaint(arraybench(), w::default_parameters(arraybench()), how), nullptr);
  how.socket = 0;
  EXPECT_EQ(w::complaint(arraybench(), w::default_parameters(arraybench()), how), nullptr);
}

TEST(Text, AssignsNumbersNamesAndPresets) {
  w::parameters values = w::default_parameters(arraybench());
  EXPECT_EQ(w::assign(arraybench(), "ints=64Ki", values), "");
  EXPECT_EQ(values[0], 65'536U);
  EXPECT_EQ(w::assign(arraybench(), "ints=2M", values), "");
  EXPECT_EQ(values[0], 2'000'000U);
  EXPECT_EQ(w::assign(arraybench(), "contention=high", values), "");
  EXPECT_EQ(values[2], 1U);
  EXPECT_EQ(w::assign(arraybench(), "preset=large-low", values), "");
  EXPECT_EQ(values[1], 100U);
  EXPECT_EQ(values[2], 0U) << "a preset sets every parameter";
}

TEST(Text, RefusalsSayWhatIsAllowedAndChangeNothing) {
  w::parameters values = w::default_parameters(arraybench());
  const w::parameters before = values;
  EXPECT_EQ(w::assign(arraybench(), "writes=1025", values), "arraybench: writes cannot be '1025'; allowed is 0..1024");
  EXPECT_EQ(w::assign(arraybench(), "contention=1", values),
            "arraybench: contention cannot be '1'; allowed is low|high");
  EXPECT_EQ(w::assign(arraybench(), "size=1", values),
            "arraybench has no parameter 'size'; it has preset, ints, writes, contention, outside, ahead");
  EXPECT_EQ(w::assign(arraybench(), "preset=huge", values).find("arraybench has no preset 'huge'; it has small-low, "),
            0U);
  EXPECT_NE(w::assign(arraybench(), "writes", values), "");
  for (const char* const bad : {"writes=", "writes=-1", "writes=1x", "writes=1 ", "writes= 1", "writes=0x10", "=1", "",
                                "writes=18446744073709551616", "writes=18446744073709551615G", "ints=1.5M"}) {
    EXPECT_NE(w::assign(arraybench(), bad, values), "") << bad;
  }
  EXPECT_EQ(std::memcmp(&before, &values, sizeof values), 0);
}

/// Those that the thesis compared by their locking alone.
bool is_variant_of_a_loop(const std::string& name) {
  for (const char* const one : {"hle_tas_1", "hle_tas_2", "hle_tas_8", "test_and_set_t", "hle_test_and_set_t"}) {
    if (name == one) return true;
  }
  return false;
}

/// What the Shore-MT paper put in the place of a lock that is read.
bool is_for_readers(const std::string& name) { return name.ends_with("counting_rwlock"); }

/// Each preset over each lock that its row names.
template <class Table>
void has_subjects_of(const Table& presets) {
  for (const auto& one : presets) {
    for (std::size_t bit = 0; bit < std::size(txsync::policy::subject_lock_names); ++bit) {
      if ((one.over >> bit & 1) == 0) continue;
      const std::string lock = txsync::policy::subject_lock_names[bit];
      const w::subject* const found = w::find_subject(std::string(one.subject) + "_" + lock);
      ASSERT_NE(found, nullptr) << one.word << " over " << lock;
      EXPECT_TRUE(std::string(found->summary).starts_with(lock + ", ")) << found->summary;
      EXPECT_TRUE(std::string(found->summary).ends_with(one.summary)) << found->summary;
    }
  }
}

TEST(Subjects, FollowTheTablesOfPresets) {
  has_subjects_of(txsync::policy::elision_table);
  has_subjects_of(txsync::policy::warm_up_table);
  EXPECT_TRUE(w::find_subject("shore_srwlock")->has_shared);
  EXPECT_FALSE(w::find_subject("shore_mcs")->has_shared);
  EXPECT_TRUE(w::find_subject("htm_10_aahtm_tatas")->speculates);
  EXPECT_TRUE(w::find_subject("aahtm_posix")->speculates);
  EXPECT_FALSE(w::find_subject("warm_ticket")->speculates);
}

TEST(Subjects, AreFoundByNameAndRunEveryWorkload) {
  std::set<std::string> names;
  for (const w::subject& one : w::subjects()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name << " twice";
    EXPECT_EQ(w::find_subject(one.name), &one);
    for (unsigned i = 0; i < w::workload_count; ++i) {
      const auto which = static_cast<w::workload_id>(i);
      const bool needs_exclusion = which == w::workload_id::mapbench || which == w::workload_id::list ||
                                   which == w::workload_id::hashmap || which == w::workload_id::cache ||
                                   which == w::workload_id::tree;
      if (one.is_barrier || which == w::workload_id::trisolve) {
        EXPECT_EQ(one.run[i] != nullptr, one.is_barrier && which == w::workload_id::trisolve) << one.name << ' ' << i;
        continue;
      }
      if (one.is_algorithm || which == w::workload_id::transactions) {
        EXPECT_TRUE(one.run[i] == nullptr || which == w::workload_id::transactions) << one.name << ' ' << i;
        EXPECT_TRUE(one.run[i] != nullptr || !one.is_algorithm || which != w::workload_id::transactions) << one.name;
        continue;
      }
      if (std::string(one.name) == "attempt") continue;  // only what may be given up
      if (is_variant_of_a_loop(one.name)) {
        const bool compares_loops = which == w::workload_id::lock_array || which == w::workload_id::counters;
        EXPECT_EQ(one.run[i] != nullptr, compares_loops) << one.name << ' ' << i;
        continue;
      }
      if (is_for_readers(one.name)) {
        EXPECT_EQ(one.run[i] != nullptr, which == w::workload_id::readers) << one.name << ' ' << i;
        continue;
      }
      EXPECT_EQ(one.run[i] != nullptr, one.exclusive || !needs_exclusion) << one.name << ' ' << i;
    }
  }
  for (const char* const expected : {"txsync::mutex",
                                     "txsync::shared_mutex",
                                     "tatas",
                                     "ticket",
                                     "fifo_ticket",
                                     "mcs",
                                     "fifo_mcs",
                                     "futex",
                                     "posix",
                                     "occ_rwlock",
                                     "futex_rwlock",
                                     "srwlock",
                                     "none",
                                     "pthread_mutex",
                                     "pthread_adaptive",
                                     "pthread_spin",
                                     "std::mutex",
                                     "std::shared_mutex",
                                     "txsync::barrier",
                                     "warm_barrier",
                                     "pthread_barrier"}) {
    EXPECT_NE(w::find_subject(expected), nullptr) << expected;
  }
  EXPECT_EQ(w::find_subject("no such lock"), nullptr);
  EXPECT_TRUE(w::find_subject("std::shared_mutex")->has_shared);
  EXPECT_FALSE(w::find_subject("std::mutex")->has_shared);
  EXPECT_FALSE(w::find_subject("none")->exclusive);
  EXPECT_TRUE(w::find_subject("shore_occ_rwlock")->has_shared);
  EXPECT_TRUE(w::find_subject("attempt")->simulated_only);
}

TEST(Histogram, BucketsCoverEveryDurationWithoutGapsAndOverlaps) {
  using buckets = w::latency_buckets;
  for (std::size_t i = 1; i < buckets::count; ++i) {
    const std::uint64_t first = buckets::floor_of(i);
    ASSERT_GT(first, buckets::floor_of(i - 1));
    ASSERT_EQ(buckets::index_of(first), i);
    ASSERT_EQ(buckets::index_of(first - 1), i - 1);
  }
  EXPECT_EQ(buckets::index_of(~std::uint64_t{0}), buckets::count - 1);
}

TEST(Histogram, PercentilesAreWithinASixteenth) {
  w::latency_histogram seen;
  EXPECT_EQ(seen.percentile(0.5), 0U);
  for (std::uint64_t ns = 1; ns <= 100'000; ++ns) seen.add(ns);
  EXPECT_EQ(seen.count(), 100'000U);
  for (const double part : {0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const double exact = part * 100'000;
    EXPECT_NEAR(static_cast<double>(seen.percentile(part)), exact, exact / 16 + 1) << part;
  }
  w::latency_histogram twice = seen;
  twice.merge(seen);
  EXPECT_EQ(twice.count(), 200'000U);
  EXPECT_EQ(twice.percentile(0.9), seen.percentile(0.9));
}

}  // namespace

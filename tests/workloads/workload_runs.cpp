// SPDX-License-Identifier: Apache-2.0
// Every workload on every subject, at 1, 2 and 4 threads, by a number of operations: the counts are exact and the
// checks pass.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "../sanitizers.hpp"
#include "workloads/harness/workload.hpp"

namespace {

namespace w = txsync::workloads;

// A sanitizer looks at what an operation does, and not at how many there are.
constexpr bool sanitized = under_asan || under_tsan;
constexpr std::uint64_t operations_each = sanitized ? 500 : 2'000;
constexpr std::uint64_t max_entries = sanitized ? 10'000 : 100'000;

/// Small enough for every test machine: the parameters that matter for time cut down.
w::parameters small(const w::workload& one) {
  w::parameters values = w::default_parameters(one);
  const auto set = [&](const char* key, std::uint64_t value) {
    if (const int index = w::find_parameter(one, key); index >= 0) values.values[index] = value;
  };
  set("ints", 4'096);
  set("keys", 1'000);
  set("pairs", 64);
  set("accounts", 100);
  set("items", 50);
  set("rows", 200);
  set("parallelism", 20);
  return values;
}

/// A subject of ours, or one that is not, that runs the workload.
const w::subject& ours(const w::workload& one) {
  if (w::id_of(one) == w::workload_id::transactions) return *w::find_subject("tm_dctl");
  return *w::find_subject(w::id_of(one) == w::workload_id::trisolve ? "txsync::barrier" : "tatas");
}
const w::subject& other(const w::workload& one) {
  if (w::id_of(one) == w::workload_id::transactions) return *w::find_subject("std::mutex");
  return *w::find_subject(w::id_of(one) == w::workload_id::trisolve ? "pthread_barrier" : "pthread_mutex");
}
/// What a number of operations of each thread comes to. Of trisolve it is a number of solves, which threads share.
bool is_shared_out(const w::workload& one) { return w::id_of(one) == w::workload_id::trisolve; }

class EveryWorkload : public testing::TestWithParam<unsigned> {};

TEST_P(EveryWorkload, CountsExactlyAndPassesItsCheckOnEverySubject) {
  const w::workload& one = w::workloads()[GetParam()];
  for (const w::subject& lock : w::subjects()) {
    if (!lock.exclusive || lock.simulated_only || lock.run[GetParam()] == nullptr) continue;
    for (const unsigned threads : {1U, 2U, 4U}) {
      if (is_shared_out(one)) continue;
      SCOPED_TRACE(std::string(one.name) + " on " + lock.name + ", threads " + std::to_string(threads));
      const w::outcome seen =
          lock.run[GetParam()](small(one), w::plan{.threads = threads, .operations = operations_each});
      EXPECT_EQ(seen.fault, nullptr) << seen.fault;
      EXPECT_EQ(seen.operations, operations_each * threads);
      EXPECT_EQ(seen.fewest, operations_each);
      EXPECT_EQ(seen.most, operations_each);
      EXPECT_GT(seen.elapsed_ns, 0U);
      EXPECT_GT(seen.cycles, 0U);
      EXPECT_EQ(seen.latency.count(), 0U) << "nobody asked for samples";
    }
  }
}

TEST_P(EveryWorkload, RunsItsPresets) {
  const w::workload& one = w::workloads()[GetParam()];
  const w::subject& lock = ours(one);
  for (const w::preset& chosen : one.presets) {
    SCOPED_TRACE(std::string(one.name) + " preset=" + chosen.name);
    w::parameters values = w::preset_parameters(one, chosen);
    for (const char* key : {"items", "keys", "size"}) {  // millions would be ten seconds of filling a map
      const int index = w::find_parameter(one, key);
      if (index >= 0) values.values[index] = std::min<std::uint64_t>(values.values[index], max_entries);
    }
    const w::outcome seen =
        lock.run[GetParam()](values, w::plan{.threads = 2, .operations = is_shared_out(one) ? 1U : 500U});
    EXPECT_EQ(seen.fault, nullptr) << seen.fault;
    if (!is_shared_out(one)) {
      EXPECT_EQ(seen.operations, 1'000U);
    }
  }
}

TEST_P(EveryWorkload, RepeatsItselfWithOneThreadAndASeed) {
  const w::workload& one = w::workloads()[GetParam()];
  const auto hash = [&](const w::subject& lock, std::uint64_t seed) {
    return lock.run[GetParam()](small(one), w::plan{.operations = 3'000, .seed = seed}).end_hash;
  };
  EXPECT_EQ(hash(ours(one), 1), hash(ours(one), 1));
  EXPECT_EQ(hash(ours(one), 1), hash(other(one), 1)) << "the lock does not matter";
  const std::string name = one.name;
  if (name == "counters" || name == "lock-overhead" || name == "capacity") return;  // nothing is drawn
  EXPECT_NE(hash(ours(one), 1), hash(ours(one), 2));
}

TEST_P(EveryWorkload, RefusesParametersAndPlansOutOfRange) {
  const w::workload& one = w::workloads()[GetParam()];
  const auto run = ours(one).run[GetParam()];
  w::parameters values = w::default_parameters(one);
  values.values[0] = one.keys[0].greatest + 1;
  const w::outcome bad_value = run(values, w::plan{.operations = 10});
  EXPECT_NE(bad_value.fault, nullptr);
  EXPECT_EQ(bad_value.operations, 0U);
  const w::outcome bad_plan = run(w::default_parameters(one), w::plan{.threads = 0, .operations = 10});
  EXPECT_NE(bad_plan.fault, nullptr);
}

INSTANTIATE_TEST_SUITE_P(All, EveryWorkload, testing::Range(0U, w::workload_count), [](const auto& chosen) {
  std::string name = w::workloads()[chosen.param].name;
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
});

/// glibc's old lock is for the simulated machine, where `txsync lab` runs readers only; its writers are tried here.
TEST(Readers, AndWritersExcludeEachOtherByCountersUnderASmallLock) {
  const w::workload& one = *w::find_workload("readers");
  w::parameters values = small(one);
  values.values[w::find_parameter(one, "pairs")] = 4;
  values.values[w::find_parameter(one, "reads")] = 50;
  for (const char* const name : {"counting_rwlock", "hle_counting_rwlock", "glibc_counting_rwlock"}) {
    const bool unseen = under_tsan && std::string(name) == "hle_counting_rwlock";  // the prefixes are bytes
    if (unseen) continue;
    SCOPED_TRACE(name);
    const w::outcome seen = w::find_subject(name)->runner_of(w::workload_id::readers)(
        values, w::plan{.threads = 4, .operations = 4 * operations_each});
    EXPECT_EQ(seen.fault, nullptr) << seen.fault;
    EXPECT_EQ(seen.operations, 16 * operations_each);
  }
}

/// Commuting operations leave the same data behind, whatever the order.
TEST(Arraybench, LeavesTheSameArrayBehindAtAnyInterleaving) {
  const w::workload& one = *w::find_workload("arraybench");
  const auto hash = [&](const char* lock) {
    const auto run = w::find_subject(lock)->runner_of(w::workload_id::arraybench);
    return run(small(one), w::plan{.threads = 4, .operations = 1'000}).end_hash;
  };
  EXPECT_EQ(hash("tatas"), hash("std::mutex"));
}

TEST(Arraybench, EmptySectionsWriteNothing) {
  const w::workload& one = *w::find_workload("arraybench");
  w::parameters values = w::preset_parameters(one, *w::find_preset(one, "empty"));
  const auto run = w::find_subject("tatas")->runner_of(w::workload_id::arraybench);
  const w::outcome some = run(values, w::plan{.threads = 2, .operations = 1'000});
  const w::outcome few = run(values, w::plan{.threads = 1, .operations = 1});
  EXPECT_EQ(some.fault, nullptr);
  EXPECT_EQ(some.end_hash, few.end_hash);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// The check of each workload finds what a broken lock does. It is tested by hand, one wrong number at a time, and with
// a lock that really does not exclude.
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <set>

#include <txsync/machine/thread.hpp>

#include "workloads/subjects/make_subject.hpp"

namespace {

namespace w = txsync::workloads;

w::parameters values_of(const char* workload) { return w::default_parameters(*w::find_workload(workload)); }

TEST(Checks, ArraybenchFindsALostWrite) {
  w::array_data data(values_of("arraybench"));
  ASSERT_TRUE(data.cells.ok());
  data.cells[17] = 12;
  data.cells[18] = 8;
  EXPECT_EQ(data.complaint(2), nullptr);  // 10 writes a section
  --data.cells[18];
  EXPECT_NE(data.complaint(2), nullptr);
}

TEST(Checks, ArraybenchCountsTheContendedWrite) {
  w::parameters values = values_of("arraybench");
  values.values[2] = 1;  // contention=high
  w::array_data data(values);
  ASSERT_TRUE(data.cells.ok());
  data.cells[0] = 22;
  EXPECT_EQ(data.complaint(2), nullptr);
  EXPECT_NE(data.complaint(1), nullptr);
}

TEST(Checks, ArraybenchCountsWhatIsWrittenAfterItHasSettled) {
  w::array_data data(values_of("arraybench"));
  ASSERT_TRUE(data.cells.ok());
  data.cells[17] = 20;
  data.settle(2);
  EXPECT_EQ(data.complaint(0), nullptr);
  data.cells[17] = 30;
  EXPECT_EQ(data.complaint(1), nullptr);
  --data.cells[18];
  EXPECT_NE(data.complaint(1), nullptr);
}

TEST(Checks, ArraybenchGoesOnWithTheArrayOfTheRunBefore) {
  const w::parameters values = values_of("arraybench");
  const w::plan keeping{.threads = 2, .operations = 500, .keeps_data = true};
  const auto sum_and_check = [&](std::uint32_t lost) {
    w::data_lease<w::array_data> lease(values, keeping, [&] { return std::make_unique<w::array_data>(values); });
    std::uint32_t sum = 0;
    for (const std::uint32_t cell : lease.data()->cells) sum += cell;
    lease.data()->cells[5] -= lost;
    w::team_result nothing_ran;
    EXPECT_EQ(lease.checked(nothing_ran, true, 0).fault == nullptr, lost == 0);
    return sum;
  };
  for (const std::uint32_t runs : {1U, 2U}) {
    EXPECT_EQ(w::run_arraybench<w::lockable<std::mutex>>(values, keeping).fault, nullptr);
    EXPECT_EQ(sum_and_check(0), runs * 2 * 500 * 10);
  }
  EXPECT_EQ(sum_and_check(1), 2 * 2 * 500 * 10U) << "a write is lost in the kept array";
  EXPECT_EQ(sum_and_check(0), 0U) << "what was wrong is not kept";
  EXPECT_EQ(w::run_arraybench<w::lockable<std::mutex>>(values, keeping).fault, nullptr);
  EXPECT_EQ(w::run_arraybench<w::lockable<std::mutex>>(values, w::plan{.operations = 1}).fault, nullptr);
  EXPECT_EQ(sum_and_check(0), 0U) << "a run that keeps nothing leaves nothing";
}

TEST(Checks, MapbenchStartsHalfFull) {
  const w::map_data data(values_of("mapbench"), 1);
  EXPECT_EQ(data.map.size(), 5'000U);
  EXPECT_EQ(data.complaint(0, 0), nullptr);
  EXPECT_NE(data.hash(), w::map_data(values_of("mapbench"), 2).hash()) << "other seeds, other keys";
}

TEST(Checks, MapbenchFindsAWrongSizeAndStrangers) {
  w::map_data data(values_of("mapbench"), 1);
  const int present = data.map.begin()->first;
  EXPECT_FALSE(data.apply(w::map_data::action::insert, present));
  EXPECT_TRUE(data.apply(w::map_data::action::find, present));
  EXPECT_TRUE(data.apply(w::map_data::action::erase, present));
  EXPECT_FALSE(data.apply(w::map_data::action::find, present));
  EXPECT_EQ(data.complaint(0, 1), nullptr);
  EXPECT_NE(data.complaint(0, 0), nullptr) << "an erasure nobody counted";

  data.map.emplace(10'000, ~10'000);
  EXPECT_NE(data.complaint(1, 1), nullptr) << "a key out of range";
  data.map.erase(10'000);
  data.map[present] = 0;
  EXPECT_NE(data.complaint(1, 1), nullptr) << "a value of another key";
}

TEST(Checks, CountersFindALostIncrement) {
  w::counter_data data(values_of("counters"));
  ASSERT_TRUE(data.ok());
  data.counter(0) = 41;
  EXPECT_EQ(data.complaint(41), nullptr);
  EXPECT_NE(data.complaint(42), nullptr);
}

TEST(Checks, CounterLayoutsAreWhatTheyAreCalled) {
  const auto distance = [](std::uint64_t layout) {
    w::parameters values = values_of("counters");
    values.values[0] = layout;
    w::counter_data data(values);
    if (data.count() == 1) return 0L;
    return static_cast<long>(reinterpret_cast<char*>(&data.counter(1)) - reinterpret_cast<char*>(&data.counter(0)));
  };
  EXPECT_EQ(distance(0), 0);
  EXPECT_EQ(distance(1), 4) << "unaligned: side by side";
  EXPECT_EQ(distance(2), txsync::machine::pad_bytes);
  EXPECT_EQ(distance(3), txsync::machine::pad_bytes);
}

TEST(Checks, CounterArrayFindsALostIncrement) {
  w::counter_reader counters;
  counters.add(5);
  counters.add(7);
  EXPECT_EQ(counters.complaint(12), nullptr);
  EXPECT_NE(counters.complaint(13), nullptr);
}

TEST(Checks, ReadersSeeHalfAWriteAndFindALostOne) {
  w::pair_data data(values_of("readers"));
  ASSERT_TRUE(data.pairs.ok());
  const std::uint32_t places[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 9};
  data.write(places);
  EXPECT_EQ(data.read(places), 0U);
  EXPECT_EQ(data.complaint(0, 1), nullptr);
  EXPECT_NE(data.complaint(1, 1), nullptr);
  EXPECT_NE(data.complaint(0, 2), nullptr);
  ++data.pairs[5].left;
  EXPECT_EQ(data.read(places), 1U);
  EXPECT_NE(data.complaint(0, 1), nullptr);
}

TEST(Checks, CapacityFindsAPlaceThatWasNotWritten) {
  w::parameters values = values_of("capacity");
  ASSERT_EQ(w::complaint(*w::find_workload("capacity"), values), nullptr);
  const w::capacity_shape shape(values);
  const w::capacity_array array(shape);
  ASSERT_TRUE(array.ok());
  w::touch_places(array.data(), shape, 1, w::capacity_value(7));
  EXPECT_EQ(array.count(shape, w::capacity_value(7)), shape.lines);
  array.data()[5 * shape.step] = 0;
  EXPECT_EQ(array.count(shape, w::capacity_value(7)), shape.lines - 1);
}

TEST(Checks, RandomPlacesAreDifferentOnes) {
  for (const std::uint64_t size : {1, 2, 3, 64, 100, 1000, 4096}) {
    const w::permutation first(size, 1);
    const w::permutation second(size, 2);
    std::set<std::uint64_t> seen;
    std::uint64_t same = 0;
    for (std::uint64_t i = 0; i < size; ++i) {
      EXPECT_LT(first(i), size);
      EXPECT_TRUE(seen.insert(first(i)).second) << size << ": " << i << " twice";
      same += first(i) == second(i) ? 1 : 0;
    }
    if (size >= 64) {
      EXPECT_LT(same, size / 8) << "another key, other places";
    }
  }
}

TEST(Checks, ThreadsWithLocksOfTheirOwnShareNone) {
  w::parameters values = values_of("lock-array");
  values.values[1] = 3;  // held at once
  values.values[6] = 1;  // share=own
  const w::lock_array_shape shape(values);
  std::uint64_t next = 0;
  for (unsigned thread = 0; thread < 4; ++thread) {
    const w::lock_range range = w::locks_of(shape, thread, 4);
    EXPECT_EQ(range.first, next);
    EXPECT_GT(range.count, 0U);
    next = range.first + range.count;
  }
  EXPECT_LE(next + 2, shape.locks) << "those behind the last are there";
}

/// Says that it excludes, and does not.
struct open_door {
  struct slot {};
  void lock(slot&) noexcept { txsync::machine::compiler_fence(); }
  void unlock(slot&) noexcept { txsync::machine::compiler_fence(); }
};

/// Runs until a fault shows, a few dozen times; each time is all but certain to lose updates on two CPUs.
bool shows_a_fault(w::outcome (*run)(const w::parameters&, const w::plan&), const w::parameters& values) {
  for (int i = 0; i < 30; ++i) {
    if (run(values, w::plan{.threads = 2, .operations = 1'000'000}).fault != nullptr) return true;
  }
  return false;
}

bool races_can_be_shown() {
#if defined(__SANITIZE_THREAD__)
  return false;  // it would stop at the race itself
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
  return false;
#endif
#endif
  return txsync::machine::cpu_count() >= 2;
}

TEST(BrokenLock, IsCaughtByTheChecks) {
  if (!races_can_be_shown()) GTEST_SKIP() << "needs two CPUs, and no ThreadSanitizer";
  EXPECT_TRUE(shows_a_fault(w::run_counters<open_door>, values_of("counters")));
  EXPECT_TRUE(shows_a_fault(w::run_counter_array<open_door>, values_of("counter-array")));

  const w::workload& array = *w::find_workload("arraybench");
  EXPECT_TRUE(
      shows_a_fault(w::run_arraybench<open_door>, w::preset_parameters(array, *w::find_preset(array, "small-high"))));
  w::parameters pairs = values_of("readers");
  pairs.values[0] = 4;   // pairs
  pairs.values[1] = 50;  // percent of reads
  EXPECT_TRUE(shows_a_fault(w::run_readers<open_door>, pairs));
  w::parameters bank = values_of("bank");
  bank.values[0] = 2;  // accounts
  bank.values[1] = 0;  // percent of reads
  EXPECT_TRUE(shows_a_fault(w::run_structure<open_door, w::bank_workload, w::make_bank>, bank));
}

TEST(BrokenLock, NoneIsNotChecked) {
  if (!races_can_be_shown()) GTEST_SKIP() << "needs two CPUs, and no ThreadSanitizer";
  const w::subject& none = *w::find_subject("none");
  const w::outcome seen =
      none.runner_of(w::workload_id::counters)(values_of("counters"), w::plan{.threads = 2, .operations = 1'000'000});
  EXPECT_EQ(seen.fault, nullptr);
  EXPECT_EQ(seen.operations, 2'000'000U);
}

}  // namespace

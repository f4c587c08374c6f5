// SPDX-License-Identifier: Apache-2.0
#include "workloads/generators/arraybench.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

constexpr std::uint64_t one_mi = std::uint64_t{1} << 20;
enum key : unsigned { ints, writes, contention, outside, run_ahead };
enum : std::uint64_t { low, high };
constexpr const char* contentions[] = {"low", "high"};
enum : std::uint64_t { same, opt, protective };
constexpr const char* paths[] = {"same", "opt", "protected"};
constexpr std::uint64_t small_array = 4'096;  // bytes

constexpr parameter keys[] = {
    {"ints", one_mi, 1, std::uint64_t{1} << 30, "length of the array, in 4-byte integers"},
    {"writes", 10, 0, array_data::max_writes, "random writes in a section"},
    {"contention", low, low, high, "high: every section writes element 0 first", contentions},
    {"outside", 0, 0, 1'000'000, "steps of computing between sections, about 1 ns each"},
    {"ahead", same, same, protective,
     "what sections do that are run ahead of time; opt: leave element 0 alone; protected: nothing in small arrays",
     paths},
};

constexpr setting small_low[] = {{"ints", one_mi}, {"writes", 10}, {"contention", low}};
constexpr setting small_high[] = {{"ints", one_mi}, {"writes", 10}, {"contention", high}};
constexpr setting large_low[] = {{"ints", one_mi}, {"writes", 100}, {"contention", low}};
constexpr setting large_high[] = {{"ints", one_mi}, {"writes", 100}, {"contention", high}};
constexpr setting hazard[] = {{"ints", 160}, {"writes", 100}, {"contention", low}};  // 10 lines of 64 bytes
constexpr setting hazard_protected[] = {{"ints", 160}, {"writes", 100}, {"contention", low}, {"ahead", protective}};
constexpr setting small_opt[] = {{"ints", one_mi}, {"writes", 10}, {"contention", high}, {"ahead", opt}};
constexpr setting large_opt[] = {{"ints", one_mi}, {"writes", 100}, {"contention", high}, {"ahead", opt}};
constexpr setting empty[] = {{"ints", one_mi}, {"writes", 0}, {"contention", low}};

constexpr preset presets[] = {
    {"small-low", "always-abort paper, Fig 7a", small_low},
    {"small-high", "always-abort paper, Fig 7, small footprint, high contention", small_high},
    {"large-low", "always-abort paper, Fig 7, large footprint, low contention", large_low},
    {"large-high", "always-abort paper, Fig 7, large footprint, high contention", large_high},
    {"small-high-opt", "always-abort paper, Fig 7, small footprint, high contention, the path \"opt\"", small_opt},
    {"large-high-opt", "always-abort paper, Fig 7, large footprint, high contention, the path \"opt\"", large_opt},
    {"hazard", "always-abort paper, Fig 13a", hazard},
    {"hazard-protected", "always-abort paper, Fig 13b, with the protective test", hazard_protected},
    {"empty", "txsync: nothing between lock and unlock", empty},
    {"small", "txsync: the same as small-low", small_low},
};

}  // namespace

constinit const workload arraybench_workload{
    .name = "arraybench",
    .summary = "random writes to a shared array under one lock",
    .operation = "sections",
    .keys = keys,
    .presets = presets,
};

array_data::array_data(const parameters& values) noexcept
    : cells(values[key::ints]),
      writes(static_cast<unsigned>(values[key::writes])),
      high(values[key::contention] == workloads::high),
      spares_first(values[key::run_ahead] == opt),
      too_small(values[key::run_ahead] == protective && values[key::ints] * sizeof(std::uint32_t) <= small_array),
      outside(values[key::outside]) {}

const char* array_data::complaint(std::uint64_t operations) const noexcept {
  std::uint32_t sum = 0;
  for (const std::uint32_t cell : cells) sum += cell;
  return sum == start_ + written_by(operations) ? nullptr
                                                : "the elements of the array do not add up to the number of writes";
}

std::uint64_t array_data::hash() const noexcept {
  running_hash all;
  for (const std::uint32_t cell : cells) all.add(cell);
  return all.value();
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

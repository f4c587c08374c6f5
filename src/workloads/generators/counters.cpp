// SPDX-License-Identifier: Apache-2.0
#include "workloads/generators/counters.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

enum key : unsigned { layout, counters };
enum : std::uint64_t { single, unaligned, aligned, global };
constexpr const char* layouts[] = {"single", "per-core-unaligned", "per-core-aligned", "per-core-global"};

constexpr parameter keys[] = {
    {"layout", single, single, global,
     "single: one counter, one lock; per-core-unaligned: adjacent counters, a lock each; per-core-aligned: counters on "
     "separate lines, a lock each; per-core-global: these under one lock",
     layouts},
    {"counters", 4, 1, 1024, "counters of the per-core layouts; thread i uses counter i modulo this"},
};

// The thesis's machine has four cores, so there are four counters.
constexpr setting set_single[] = {{"layout", single}, {"counters", 4}};
constexpr setting set_unaligned[] = {{"layout", unaligned}, {"counters", 4}};
constexpr setting set_aligned[] = {{"layout", aligned}, {"counters", 4}};
constexpr setting set_global[] = {{"layout", global}, {"counters", 4}};

constexpr preset presets[] = {
    {"single", "thesis on TSX in InnoDB, Fig 3.13", set_single},
    {"unaligned", "thesis on TSX in InnoDB, Fig 3.14", set_unaligned},
    {"aligned", "thesis on TSX in InnoDB, Fig 3.15", set_aligned},
    {"global", "thesis on TSX in InnoDB, Fig 3.16", set_global},
};

constexpr unsigned cells_a_pad = machine::pad_bytes / sizeof(std::uint32_t);

}  // namespace

constinit const workload counters_workload{
    .name = "counters",
    .summary = "increments of one counter, or of one a core, each under a lock",
    .operation = "increments",
    .keys = keys,
    .presets = presets,
};

counter_data::counter_data(const parameters& values) noexcept
    : count_(values[key::layout] == single ? 1 : static_cast<unsigned>(values[key::counters])),
      stride_(values[key::layout] == aligned || values[key::layout] == global ? cells_a_pad : 1),
      one_lock_(values[key::layout] == single || values[key::layout] == global),
      cells_(std::size_t{count_} * stride_) {}

const char* counter_data::complaint(std::uint64_t operations) const noexcept {
  std::uint32_t sum = 0;
  for (const std::uint32_t cell : cells_) sum += cell;
  // Modulo 2^32, like the counters.
  return sum == static_cast<std::uint32_t>(operations) ? nullptr
                                                       : "the counters do not add up to the number of increments";
}

std::uint64_t counter_data::hash() const noexcept {
  running_hash all;
  for (const std::uint32_t cell : cells_) all.add(cell);
  return all.value();
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

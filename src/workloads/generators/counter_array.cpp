// SPDX-License-Identifier: Apache-2.0
#include "workloads/generators/counter_array.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

enum key : unsigned { counters, locking };
enum : std::uint64_t { coarse, fine };
constexpr const char* lockings[] = {"coarse", "fine"};

constexpr parameter keys[] = {
    {"counters", 64, 1, std::uint64_t{1} << 24, "length of the array"},
    {"locking", coarse, coarse, fine, "coarse: one lock for the array; fine: a lock beside each counter", lockings},
};

constexpr setting coarse_64[] = {{"counters", 64}, {"locking", coarse}};
constexpr setting fine_64[] = {{"counters", 64}, {"locking", fine}};
constexpr setting coarse_1k[] = {{"counters", 1024}, {"locking", coarse}};
constexpr setting fine_1k[] = {{"counters", 1024}, {"locking", fine}};
constexpr setting coarse_16k[] = {{"counters", 16'384}, {"locking", coarse}};
constexpr setting fine_16k[] = {{"counters", 16'384}, {"locking", fine}};

// The paper's text names 64 counters, its most contended case. The figure gives no numbers for its other lengths.
constexpr const char* paper = "LevelDB paper, section 3, Fig 2";
constexpr const char* ours = "txsync: LevelDB paper, section 3, with a length of our own";
constexpr unsigned threads = 8;
constexpr std::uint64_t increments = 1'000'000;

constexpr preset presets[] = {
    {"coarse-64", paper, coarse_64, threads, increments},  {"fine-64", paper, fine_64, threads, increments},
    {"coarse-1k", ours, coarse_1k, threads, increments},   {"fine-1k", ours, fine_1k, threads, increments},
    {"coarse-16k", ours, coarse_16k, threads, increments}, {"fine-16k", ours, fine_16k, threads, increments},
};

}  // namespace

constinit const workload counter_array_workload{
    .name = "counter-array",
    .summary = "increments of random counters of an array, under one lock or a lock each",
    .operation = "increments",
    .keys = keys,
    .presets = presets,
};

counter_array_shape::counter_array_shape(const parameters& values) noexcept
    : counters(values[key::counters]), fine(values[key::locking] == workloads::fine) {}

const char* counter_reader::complaint(std::uint64_t operations) const noexcept {
  return sum_ == operations ? nullptr : "the counters do not add up to the number of increments";
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

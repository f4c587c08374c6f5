// SPDX-License-Identifier: Apache-2.0
#include "workloads/generators/readers.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

enum key : unsigned { pairs, reads, touches, outside };

constexpr parameter keys[] = {
    {"pairs", 65'536, 1, std::uint64_t{1} << 29, "length of the array, in pairs of 4-byte integers"},
    {"reads", 90, 0, 100, "percent of sections that only read"},
    {"touches", 10, 0, pair_data::max_touches, "random pairs that a section reads or writes"},
    {"outside", 0, 0, 1'000'000, "fences between sections, on average; about 10 ns each"},
};

constexpr setting set_90[] = {{"reads", 90}};
constexpr setting set_99[] = {{"reads", 99}};
constexpr setting set_100[] = {{"reads", 100}};
constexpr setting set_50[] = {{"reads", 50}};
constexpr setting of_occ_rwlock[] = {{"pairs", 1024}, {"reads", 100}, {"touches", 4}, {"outside", 1000}};
constexpr preset presets[] = {
    {"mostly-reads", "txsync", set_90},
    {"nearly-all-reads", "txsync", set_99},
    {"only-reads", "txsync", set_100},
    {"half-reads", "txsync", set_50},
    {"occ-rwlock", "Shore-MT paper, 3.2: read once in a short transaction; the lengths are txsync's", of_occ_rwlock},
};

}  // namespace

constinit const workload readers_workload{
    .name = "readers",
    .summary = "read and write sections over an array, shared where the lock can",
    .operation = "sections",
    .keys = keys,
    .presets = presets,
};

pair_data::pair_data(const parameters& values) noexcept
    : pairs(values[key::pairs]),
      reads(values[key::reads]),
      touches(static_cast<unsigned>(values[key::touches])),
      outside(values[key::outside]) {}

const char* pair_data::complaint(std::uint64_t unequal, std::uint64_t writes) const noexcept {
  if (unequal != 0) return "a reader saw half of a write";
  std::uint32_t left = 0;
  std::uint32_t right = 0;
  for (const pair& one : pairs) {
    left += one.left;
    right += one.right;
  }
  // Modulo 2^32, like the halves.
  const auto expected = static_cast<std::uint32_t>(writes * touches);
  return left == expected && right == expected ? nullptr : "the pairs do not add up to the number of writes";
}

std::uint64_t pair_data::hash() const noexcept {
  running_hash all;
  for (const pair& one : pairs) all.add((std::uint64_t{one.left} << 32) | one.right);
  return all.value();
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

// SPDX-License-Identifier: Apache-2.0
#include "workloads/generators/mapbench.hpp"

#include <utility>
#include <vector>

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

enum key : unsigned { keys, find, insert, erase };

constexpr parameter parameter_list[] = {
    {"keys", 10'000, 2, 100'000'000, "size of the key space; half of it is in the map at the start"},
    {"find", 80, 0, 100, "percent of operations that look a key up"},
    {"insert", 10, 0, 100, "percent of operations that insert a key"},
    {"erase", 10, 0, 100, "percent of operations that erase a key"},
};

constexpr setting k10_10[] = {{"keys", 10'000}, {"find", 80}, {"insert", 10}, {"erase", 10}};
constexpr setting k10_50[] = {{"keys", 10'000}, {"find", 0}, {"insert", 50}, {"erase", 50}};
constexpr setting m1_10[] = {{"keys", 1'000'000}, {"find", 80}, {"insert", 10}, {"erase", 10}};
constexpr setting m1_50[] = {{"keys", 1'000'000}, {"find", 0}, {"insert", 50}, {"erase", 50}};
constexpr setting m10_10[] = {{"keys", 10'000'000}, {"find", 80}, {"insert", 10}, {"erase", 10}};
constexpr setting m10_50[] = {{"keys", 10'000'000}, {"find", 0}, {"insert", 50}, {"erase", 50}};

constexpr preset preset_list[] = {
    {"10k-10", "always-abort paper, Fig 8, 10 K keys, 10 % writes", k10_10},
    {"10k-50", "always-abort paper, Fig 8, 10 K keys, 50 % writes", k10_50},
    {"1m-10", "txsync: between the paper's sizes, quick to set up", m1_10},
    {"1m-50", "txsync: between the paper's sizes, quick to set up", m1_50},
    {"10m-10", "always-abort paper, Fig 8, 10 M keys, 10 % writes", m10_10},
    {"10m-50", "always-abort paper, Fig 8d", m10_50},
};

const char* percentages_off(const parameters& values) noexcept {
  const bool hundred = values[key::find] + values[key::insert] + values[key::erase] == 100;
  return hundred ? nullptr : "find, insert and erase are percentages and must add up to 100";
}

int value_of(int key) noexcept { return ~key; }

}  // namespace

constinit const workload mapbench_workload{
    .name = "mapbench",
    .summary = "lookups, insertions and erasures in a std::map<int, int> under one lock",
    .operation = "operations",
    .keys = parameter_list,
    .presets = preset_list,
    .contradiction = percentages_off,
};

map_data::map_data(const parameters& values, std::uint64_t seed)
    : keys(values[key::keys]), find(values[key::find]), insert(values[key::insert]) {
  // Exactly half of the keys, all equally likely, inserted in random order. So neighbours in the tree are not
  // neighbours in memory.
  std::vector<int> order(keys);
  for (std::uint64_t i = 0; i < keys; ++i) order[i] = static_cast<int>(i);
  random_stream random(seed, ~std::uint64_t{0});
  const std::uint64_t half = keys / 2;
  for (std::uint64_t i = 0; i < half; ++i) std::swap(order[i], order[i + random.below(keys - i)]);
  // Nodes are made in that order, so they have it in memory. They are then linked by key, which needs no search.
  std::vector<std::map<int, int>::node_type> nodes(keys);
  std::map<int, int> one_at_a_time;
  for (std::uint64_t i = 0; i < half; ++i) {
    nodes[static_cast<std::uint64_t>(order[i])] =
        one_at_a_time.extract(one_at_a_time.emplace(order[i], value_of(order[i])).first);
  }
  for (auto& node : nodes) {
    if (!node.empty()) map.insert(map.end(), std::move(node));
  }
  filled_ = half;
}

bool map_data::apply(action what, int key) {
  switch (what) {
    case action::find:
      return map.find(key) != map.end();
    case action::insert:
      return map.emplace(key, value_of(key)).second;
    default:
      return map.erase(key) != 0;
  }
}

const char* map_data::complaint(std::uint64_t inserted, std::uint64_t erased) const noexcept {
  const std::uint64_t expected = filled_ + inserted - erased;
  if (map.size() != expected) return "the size of the map is not that of the start plus insertions minus erasures";
  std::uint64_t seen = 0;
  std::int64_t before = -1;
  for (const auto& [key, value] : map) {
    if (++seen > expected) return "the map holds more nodes than its size";
    if (key <= before) return "the keys of the map are not in order";
    if (key >= static_cast<std::int64_t>(keys)) return "the map holds a key that nobody inserted";
    if (value != value_of(key)) return "the map holds a value that does not belong to its key";
    before = key;
  }
  return seen == expected ? nullptr : "the map holds fewer nodes than its size";
}

std::uint64_t map_data::hash() const noexcept {
  running_hash all;
  for (const auto& [key, value] : map) {
    all.add(static_cast<std::uint32_t>(key));
    all.add(static_cast<std::uint32_t>(value));
  }
  return all.value();
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

// SPDX-License-Identifier: Apache-2.0
// mapbench: operations on a std::map under one lock (always-abort paper, IV-A).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "workloads/harness/adapters.hpp"
#include "workloads/harness/data_lease.hpp"
#include "workloads/harness/pages.hpp"
#include "workloads/harness/team.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

extern const workload mapbench_workload;

/// The map, filled with half of the keys in random order, and the mix of operations.
class map_data {
 public:
  enum class action : std::uint8_t { find, insert, erase };

  map_data(const parameters& values, std::uint64_t seed);

  action action_of(std::uint64_t percent) const noexcept {
    return percent < find ? action::find : percent < find + insert ? action::insert : action::erase;
  }
  /// One operation. True if the key was found, was new, or could be erased. Requires: no other thread uses the map.
  bool apply(action what, int key);

  /// Visits what apply() will touch: the way to the key, and what changes with it, in the nodes of libstdc++'s tree.
  template <class Memory>
  void foretell(Memory& memory, action what, int key) const;

  /// Null, or why the run does not count.
  const char* complaint(std::uint64_t inserted, std::uint64_t erased) const noexcept;
  /// From now on, these operations count as initial content.
  void settle(std::uint64_t inserted, std::uint64_t erased) noexcept { filled_ += inserted - erased; }
  /// A hash of all the data, see outcome::end_hash.
  std::uint64_t hash() const noexcept;

  std::map<int, int> map;
  std::uint64_t keys;    ///< keys are 0..keys-1
  std::uint64_t find;    ///< in percent
  std::uint64_t insert;  ///< in percent; the rest are erasures

 private:
  std::uint64_t filled_ = 0;
};

template <class Memory>
void map_data::foretell(Memory& memory, action what, int key) const {
  using node = std::_Rb_tree_node<std::pair<const int, int>>;
  const std::_Rb_tree_node_base* const header = map.end()._M_node;
  const std::_Rb_tree_node_base* parent = nullptr;
  const std::_Rb_tree_node_base* at = memory.load(header->_M_parent);
  while (at != nullptr) {
    const int here = memory.load(static_cast<const node*>(at)->_M_valptr()->first);
    if (here == key) break;
    parent = at;
    at = memory.load(here < key ? at->_M_right : at->_M_left);
  }
  if (what == action::find || memory.over()) return;
  for (const std::_Rb_tree_node_base* one : {parent, at}) {
    if (one != nullptr) memory.store(*const_cast<std::_Rb_tree_node_base*>(one), 0);
  }
}

template <class Adapter>
struct map_shared {
  alignas(machine::pad_bytes) Adapter lock{};
  map_data& data;
};

template <class Adapter>
void map_operations(worker& me, map_shared<Adapter>& shared) {
  Adapter& lock = shared.lock;
  map_data& data = shared.data;
  [[maybe_unused]] typename Adapter::slot mine{};
  random_stream random = me.random();
  std::uint64_t changed[3] = {};

  me.wait_for_start();
  while (me.more()) {
    const map_data::action what = data.action_of(random.below(100));
    const int key = static_cast<int>(random.below(data.keys));
    const bool timed = me.begin();
    lock_warming(lock, mine, [&](auto& memory) { data.foretell(memory, what, key); });
    me.entered(timed);
    const bool done = data.apply(what, key);
    lock.unlock(mine);
    me.finish();
    changed[static_cast<unsigned>(what)] += done ? 1 : 0;
  }
  for (unsigned i = 0; i < 3; ++i) me.tally(i) = changed[i];
}

template <class Adapter>
outcome run_mapbench(const parameters& values, const plan& how) {
  if (const char* const wrong = complaint(mapbench_workload, values, how)) return refused(wrong);
  data_lease<map_data> lease(values, how, [&] { return std::make_unique<map_data>(values, how.seed); });
  map_shared<Adapter> shared{.data = *lease.data()};
  team_result result = run_team<map_operations<Adapter>>(how, shared);
  return lease.checked(result, true, result.tallies[1], result.tallies[2]);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

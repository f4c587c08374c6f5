// SPDX-License-Identifier: Apache-2.0
// mapbench: operations on a std::map under one lock (always-abort paper, IV-A).
#pragma once

#include <cstdint>
#include <map>

#include "workloads/adapters.hpp"
#include "workloads/pages.hpp"
#include "workloads/team.hpp"
#include "workloads/workload.hpp"

namespace txsync::inline TXSYNC_BACKEND::workloads {

extern const workload mapbench_workload;

/// The map, filled with half of the keys in random order, and the mix of operations.
class map_data {
 public:
  enum class action : std::uint8_t { find, insert, erase };

  map_data(const parameters& values, std::uint64_t seed);

  action action_of(std::uint64_t percent) const noexcept {
    return percent < find ? action::find : percent < find + insert ? action::insert : action::erase;
  }
  /// One operation; true when the key was found, was new, or was there to erase. Requires: nobody else is in the map.
  bool apply(action what, int key);

  /// Null, or why the run does not count.
  const char* complaint(std::uint64_t inserted, std::uint64_t erased) const noexcept;
  /// Of all the data, see outcome::end_hash.
  std::uint64_t hash() const noexcept;

  std::map<int, int> map;
  std::uint64_t keys;    ///< keys are 0..keys-1
  std::uint64_t find;    ///< percent
  std::uint64_t insert;  ///< percent; the rest erases

 private:
  std::uint64_t filled_ = 0;
};

template <class Adapter>
struct map_shared {
  alignas(machine::pad_bytes) Adapter lock{};
  alignas(machine::pad_bytes) map_data data;
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
    me.begin();
    lock.lock(mine);
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
  map_shared<Adapter> shared{.data = map_data(values, how.seed)};
  team_result result = run_team<map_operations<Adapter>>(how, shared);
  return result.checked(shared.data.complaint(result.tallies[1], result.tallies[2]), shared.data.hash());
}

}  // namespace txsync::inline TXSYNC_BACKEND::workloads

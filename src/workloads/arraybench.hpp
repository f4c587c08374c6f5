// SPDX-License-Identifier: Apache-2.0
// arraybench: random writes to a shared array under one lock (always-abort paper, II-A, IV-A; hazard: IV-A 6).
#pragma once

#include <cstdint>

#include "workloads/adapters.hpp"
#include "workloads/pages.hpp"
#include "workloads/team.hpp"
#include "workloads/workload.hpp"

namespace txsync::inline TXSYNC_BACKEND::workloads {

extern const workload arraybench_workload;

/// The array and what a section does to it; made before the measured phase, not changed by it except for the cells.
class array_data {
 public:
  static constexpr unsigned most_writes = 1024;

  explicit array_data(const parameters& values) noexcept;

  /// Null, or why the run does not count. `operations` are all sections that ran.
  const char* complaint(std::uint64_t operations) const noexcept;
  /// Of all the data, see outcome::end_hash.
  std::uint64_t hash() const noexcept;

  page_array<std::uint32_t> cells;
  unsigned writes;        ///< random writes of a section
  bool high;              ///< sections write cell 0 first
  std::uint64_t outside;  ///< steps of computing between sections
};

template <class Adapter>
struct array_shared {
  alignas(machine::pad_bytes) Adapter lock{};
  alignas(machine::pad_bytes) array_data data;
};

template <class Adapter>
void array_sections(worker& me, array_shared<Adapter>& shared) {
  Adapter& lock = shared.lock;
  std::uint32_t* const cells = shared.data.cells.data();
  const std::uint64_t size = shared.data.cells.size();
  const unsigned writes = shared.data.writes;
  const bool high = shared.data.high;
  const std::uint64_t outside = shared.data.outside;
  [[maybe_unused]] typename Adapter::slot mine{};
  random_stream random = me.random();
  std::uint32_t places[array_data::most_writes];

  me.wait_for_start();
  while (me.more()) {
    for (unsigned i = 0; i < writes; ++i) places[i] = static_cast<std::uint32_t>(random.below(size));
    me.begin();
    lock.lock(mine);
    if (high) ++cells[0];
    for (unsigned i = 0; i < writes; ++i) ++cells[places[i]];
    lock.unlock(mine);
    me.finish();
    me.think(outside);
  }
}

template <class Adapter>
outcome run_arraybench(const parameters& values, const plan& how) {
  if (const char* const refusal = complaint(arraybench_workload, values, how)) return refused(refusal);
  array_shared<Adapter> shared{.data = array_data(values)};
  if (!shared.data.cells.ok()) return refused(no_memory);
  team_result result = run_team<array_sections<Adapter>>(how, shared);
  const char* const wrong = excludes<Adapter>() ? shared.data.complaint(result.all_operations) : nullptr;
  return result.checked(wrong, shared.data.hash());
}

}  // namespace txsync::inline TXSYNC_BACKEND::workloads

// SPDX-License-Identifier: Apache-2.0
// arraybench: random writes to a shared array under one lock (always-abort paper, II-A, IV-A; hazard: IV-A 6).
#pragma once

#include <cstdint>
#include <memory>

#include <txsync/speculate/warming.hpp>

#include "workloads/harness/adapters.hpp"
#include "workloads/harness/data_lease.hpp"
#include "workloads/harness/pages.hpp"
#include "workloads/harness/team.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

extern const workload arraybench_workload;

/// The array and what a section does to it. It is made before the measured phase, which changes only the cells.
class alignas(machine::pad_bytes) array_data {
 public:
  static constexpr unsigned max_writes = 1024;

  explicit array_data(const parameters& values) noexcept;

  /// Null, or why the run does not count. `operations` is the number of all sections that ran since settle().
  const char* complaint(std::uint64_t operations) const noexcept;
  /// What these operations have written counts as initial content from now on.
  void settle(std::uint64_t operations) noexcept { start_ += written_by(operations); }
  /// A hash of all the data, see outcome::end_hash.
  std::uint64_t hash() const noexcept;

  page_array<std::uint32_t> cells;
  unsigned writes;        ///< random writes of a section
  bool high;              ///< sections write cell 0 first
  bool spares_first;      ///< except those that waiters run ahead (the paper's "opt")
  bool too_small;         ///< too small for running ahead: the paper's protective test
  std::uint64_t outside;  ///< steps of computing between sections

 private:
  /// What this many sections add to the sum of all cells, modulo 2^32 like the cells.
  std::uint32_t written_by(std::uint64_t operations) const noexcept {
    return static_cast<std::uint32_t>(operations * (writes + (high ? 1 : 0)));
  }

  std::uint32_t start_ = 0;  ///< the sum of all cells before the sections that are checked
};

/// A section: the same code whether it takes effect or is run ahead.
template <class Memory>
void write_cells(Memory& memory, array_data& data, const std::uint32_t* places) {
  const auto add_one = [](std::uint32_t cell) { return cell + 1; };
  std::uint32_t* const cells = data.cells.data();
  bool first_too = data.high;
  if (data.spares_first || data.too_small) [[unlikely]] {
    const bool for_nothing = Memory::speculative || is_warming();
    if (for_nothing && data.too_small) return;
    first_too = first_too && !for_nothing;
  }
  if (first_too) memory.update(cells[0], add_one);
  for (unsigned i = 0; i < data.writes; ++i) memory.update(cells[places[i]], add_one);
}

template <class Adapter>
struct array_shared {
  alignas(machine::pad_bytes) Adapter lock{};
  array_data& data;
};

template <class Adapter>
void array_sections(worker& me, array_shared<Adapter>& shared) {
  Adapter& lock = shared.lock;
  array_data& data = shared.data;
  const std::uint64_t size = shared.data.cells.size();
  const unsigned writes = shared.data.writes;
  const std::uint64_t outside = shared.data.outside;
  [[maybe_unused]] typename Adapter::slot mine{};
  random_stream random = me.random();
  std::uint32_t places[array_data::max_writes];

  me.wait_for_start();
  while (me.more()) {
    for (unsigned i = 0; i < writes; ++i) places[i] = static_cast<std::uint32_t>(random.below(size));
    const bool timed = me.begin();
    lock_warming(lock, mine, [&](auto& memory) { write_cells(memory, data, places); });
    me.entered(timed);
    section_memory memory;
    write_cells(memory, data, places);
    lock.unlock(mine);
    me.finish();
    me.think(outside);
  }
}

template <class Adapter>
outcome run_arraybench(const parameters& values, const plan& how) {
  if (const char* const refusal = complaint(arraybench_workload, values, how)) return refused(refusal);
  data_lease<array_data> lease(values, how, [&] { return std::make_unique<array_data>(values); });
  if (!lease.data()->cells.ok()) return refused(no_memory);
  array_shared<Adapter> shared{.data = *lease.data()};
  team_result result = run_team<array_sections<Adapter>>(how, shared);
  return lease.checked(result, excludes<Adapter>(), result.all_operations);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

// SPDX-License-Identifier: Apache-2.0
// counters: increments of one counter or of one per core, in four layouts (thesis on TSX in InnoDB, 3.3.2).
#pragma once

#include <cstddef>
#include <cstdint>

#include "workloads/harness/adapters.hpp"
#include "workloads/harness/pages.hpp"
#include "workloads/harness/team.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

extern const workload counters_workload;

/// The counters: 4 bytes each, side by side or each on its own line.
class counter_data {
 public:
  explicit counter_data(const parameters& values) noexcept;

  bool ok() const noexcept { return cells_.ok(); }
  unsigned count() const noexcept { return count_; }
  bool one_lock() const noexcept { return one_lock_; }
  std::uint32_t& counter(unsigned index) noexcept { return cells_[std::size_t{index} * stride_]; }

  /// Null, or why the run does not count.
  const char* complaint(std::uint64_t operations) const noexcept;
  /// A hash of all the data, see outcome::end_hash.
  std::uint64_t hash() const noexcept;

 private:
  unsigned count_;
  unsigned stride_;  ///< cells from one counter to the next
  bool one_lock_;
  page_array<std::uint32_t> cells_;
};

template <class Adapter>
struct counters_shared {
  explicit counters_shared(const parameters& values) noexcept
      : data(values), locks(data.one_lock() ? 1 : data.count()) {}

  counter_data data;
  page_array<padded<Adapter>> locks;
};

template <class Adapter>
void counter_increments(worker& me, counters_shared<Adapter>& shared) {
  const unsigned index = me.index() % shared.data.count();
  Adapter& lock = shared.locks[shared.data.one_lock() ? 0 : index].object;
  std::uint32_t& counter = shared.data.counter(index);
  [[maybe_unused]] typename Adapter::slot mine{};

  me.wait_for_start();
  while (me.more()) {
    const bool timed = me.begin();
    lock.lock(mine);
    me.entered(timed);
    ++counter;
    lock.unlock(mine);
    me.finish();
  }
}

template <class Adapter>
outcome run_counters(const parameters& values, const plan& how) {
  if (const char* const refusal = complaint(counters_workload, values, how)) return refused(refusal);
  counters_shared<Adapter> shared(values);
  if (!shared.data.ok() || !shared.locks.ok()) return refused(no_memory);
  team_result result = run_team<counter_increments<Adapter>>(how, shared);
  const char* const wrong = excludes<Adapter>() ? shared.data.complaint(result.all_operations) : nullptr;
  return result.checked(wrong, shared.data.hash());
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

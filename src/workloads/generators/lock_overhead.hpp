// SPDX-License-Identifier: Apache-2.0
// lock-overhead: lock and unlock, nothing else (thesis on TSX in InnoDB, 3.2.5).
#pragma once

#include <cstdint>

#include "workloads/harness/adapters.hpp"
#include "workloads/harness/pages.hpp"
#include "workloads/harness/team.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

extern const workload lock_overhead_workload;

/// Pairs of lock and unlock between two checks whether the run is over.
std::uint64_t lock_overhead_batch(const parameters& values) noexcept;

template <class Adapter>
struct overhead_shared {
  std::uint64_t batch;
  page_array<padded<Adapter>> locks;  ///< one per thread: no thread ever waits
};

template <class Adapter>
void lock_and_unlock(worker& me, overhead_shared<Adapter>& shared) {
  Adapter& lock = shared.locks[me.index()].object;
  const std::uint64_t batch = shared.batch;
  [[maybe_unused]] typename Adapter::slot mine{};

  me.wait_for_start();
  while (const std::uint64_t pairs = me.take(batch)) {
    me.begin();
    for (std::uint64_t i = 0; i < pairs; ++i) {
      lock.lock(mine);
      lock.unlock(mine);
    }
    me.finish(pairs);
  }
}

template <class Adapter>
outcome run_lock_overhead(const parameters& values, const plan& how) {
  if (const char* const wrong = complaint(lock_overhead_workload, values, how)) return refused(wrong);
  overhead_shared<Adapter> shared{lock_overhead_batch(values), page_array<padded<Adapter>>(how.threads)};
  if (!shared.locks.ok()) return refused(no_memory);
  return run_team<lock_and_unlock<Adapter>>(how, shared).seen;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

// SPDX-License-Identifier: Apache-2.0
// Makes a subject of any lock; each takes one line in a table. It instantiates every workload for the adapter (about a
// second of compile time each), so keep only a handful in a source file.
//
//   constexpr subject table[] = {
//       make_subject<lockable<tbb::spin_mutex>>("tbb::spin_mutex", true, waiting::spins, "oneTBB's test-and-set lock"),
//   };
#pragma once

#include "workloads/cache/cache_workload.hpp"
#include "workloads/generators/arraybench.hpp"
#include "workloads/generators/capacity.hpp"
#include "workloads/generators/counter_array.hpp"
#include "workloads/generators/counters.hpp"
#include "workloads/generators/lock_array.hpp"
#include "workloads/generators/lock_overhead.hpp"
#include "workloads/generators/mapbench.hpp"
#include "workloads/generators/readers.hpp"
#include "workloads/generators/structure.hpp"
#include "workloads/harness/adapters.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

/// The workloads whose critical sections must always be run.
template <class Adapter>
constexpr void set_locked_workloads(subject& made) noexcept {
  const auto set = [&](workload_id which, subject::runner run) { made.run[static_cast<unsigned>(which)] = run; };
  set(workload_id::arraybench, run_arraybench<Adapter>);
  set(workload_id::bank, run_structure<Adapter, bank_workload, make_bank>);
  if constexpr (excludes<Adapter>()) {  // a walk in damaged trees, lists and chains might not end
    set(workload_id::mapbench, run_mapbench<Adapter>);
    set(workload_id::list, run_structure<Adapter, list_workload, make_list>);
    set(workload_id::hashmap, run_structure<Adapter, hashmap_workload, make_hashmap>);
    set(workload_id::cache, cache::run_requests<Adapter>);
    set(workload_id::tree, run_structure<Adapter, tree_workload, make_tree>);
  }
  set(workload_id::counters, run_counters<Adapter>);
  set(workload_id::counter_array, run_counter_array<Adapter>);
  set(workload_id::lock_overhead, run_lock_overhead<Adapter>);
  set(workload_id::readers, run_readers<Adapter>);
}

/// Only for the workloads that measure warm-up: prefetch before lock (adapters.hpp).
template <class Adapter>
constexpr subject make_ahead_subject(const char* name, waiting how, const char* summary) noexcept {
  subject made{.name = name, .peer = true, .how = how, .summary = summary};
  const auto set = [&](workload_id which, subject::runner run) { made.run[static_cast<unsigned>(which)] = run; };
  set(workload_id::arraybench, run_arraybench<ahead<Adapter>>);
  set(workload_id::mapbench, run_mapbench<ahead<Adapter>>);
  set(workload_id::hashmap, run_structure<ahead<Adapter>, hashmap_workload, make_hashmap>);
  set(workload_id::tree, run_structure<ahead<Adapter>, tree_workload, make_tree>);
  return made;
}

/// Name and summary must be string literals, because only their addresses are kept.
template <class Adapter>
constexpr subject make_subject(const char* name, bool peer, waiting how, const char* summary) noexcept {
  subject made{.name = name,
               .peer = peer,
               .how = how,
               .exclusive = excludes<Adapter>(),
               .has_shared = has_read_sections<Adapter>,
               .summary = summary};
  const auto set = [&](workload_id which, subject::runner run) { made.run[static_cast<unsigned>(which)] = run; };
  set(workload_id::capacity, run_capacity<Adapter>);
  set(workload_id::lock_array, run_lock_array<Adapter>);
  if constexpr (!gives_up<Adapter>) set_locked_workloads<Adapter>(made);
  return made;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

// SPDX-License-Identifier: Apache-2.0
// The table of workloads, and queries about it.
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

extern const workload arraybench_workload;
extern const workload mapbench_workload;
extern const workload counters_workload;
extern const workload counter_array_workload;
extern const workload lock_overhead_workload;
extern const workload readers_workload;
extern const workload capacity_workload;
extern const workload lock_array_workload;
extern const workload bank_workload;
extern const workload list_workload;
extern const workload hashmap_workload;
extern const workload cache_workload;
extern const workload trisolve_workload;
extern const workload tree_workload;
extern const workload transactions_workload;

std::span<const workload> workloads() noexcept {
  static const workload table[workload_count] = {
      arraybench_workload, mapbench_workload, counters_workload,   counter_array_workload, lock_overhead_workload,
      readers_workload,    capacity_workload, lock_array_workload, bank_workload,          list_workload,
      hashmap_workload,    cache_workload,    trisolve_workload,   tree_workload,          transactions_workload};
  return table;
}

const workload* find_workload(std::string_view name) noexcept {
  for (const workload& one : workloads()) {
    if (name == one.name) return &one;
  }
  return nullptr;
}

const preset* find_preset(const workload& which, std::string_view name) noexcept {
  for (const preset& one : which.presets) {
    if (name == one.name) return &one;
  }
  return nullptr;
}

workload_id id_of(const workload& which) noexcept {
  return static_cast<workload_id>(find_workload(which.name) - workloads().data());
}

int find_parameter(const workload& which, std::string_view key) noexcept {
  for (unsigned i = 0; i < which.keys.size(); ++i) {
    if (key == which.keys[i].key) return static_cast<int>(i);
  }
  return -1;
}

parameters default_parameters(const workload& which) noexcept {
  parameters made;
  for (unsigned i = 0; i < which.keys.size(); ++i) made.values[i] = which.keys[i].fallback;
  return made;
}

parameters preset_parameters(const workload& which, const preset& chosen) noexcept {
  parameters made = default_parameters(which);
  for (const setting& one : chosen.settings) {
    if (const int index = find_parameter(which, one.key); index >= 0) made.values[index] = one.value;
  }
  return made;
}

const char* complaint(const workload& which, const parameters& values) noexcept {
  for (unsigned i = 0; i < which.keys.size(); ++i) {
    const parameter& key = which.keys[i];
    if (values[i] < key.least || values[i] > key.greatest) return "a parameter of the workload is out of its range";
  }
  return which.contradiction != nullptr ? which.contradiction(values) : nullptr;
}

const char* complaint(const workload& which, const parameters& values, const plan& how) noexcept {
  if (how.threads < 1 || how.threads > max_threads) return "the number of threads must be 1..4096";
  if (how.placement == machine::placement::socket && how.socket >= machine::socket_count()) {
    return "the machine has no socket of that number";
  }
  return complaint(which, values);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

// SPDX-License-Identifier: Apache-2.0
#include "launch/code_samples.hpp"

#include <linux/perf_event.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace txsync::inline TXSYNC_BACKEND::launch {

std::optional<abort_cause> cause_of(std::uint64_t transaction) noexcept {
  constexpr std::uint64_t busy_code = 0xFF;
  if (transaction == 0) return std::nullopt;
  if (const std::uint64_t code = (transaction & PERF_TXN_ABORT_MASK) >> PERF_TXN_ABORT_SHIFT; code != 0)
    return code == busy_code ? abort_cause::lock_busy : abort_cause::explicit_abort;
  if ((transaction & PERF_TXN_CONFLICT) != 0) return abort_cause::conflict;
  if ((transaction & PERF_TXN_CAPACITY_READ) != 0) return abort_cause::capacity_read;
  if ((transaction & PERF_TXN_CAPACITY_WRITE) != 0) return abort_cause::capacity_write;
  return abort_cause::unknown;
}

void sample_adder::add(sample_records some) {
  for (code_sample& one : some.samples) {
    ++sum_.samples;
    sampled_place place{one.process, one.code, std::move(one.calls), cause_of(one.transaction)};
    auto at = sum_.places.find(place);
    if (at == sum_.places.end()) {
      if (sum_.places.size() >= max_places) {
        ++sum_.left_out;
        continue;
      }
      at = sum_.places.emplace(std::move(place), sample_sum()).first;
    }
    ++at->second.samples;
    at->second.events += one.events;
    at->second.cycles += one.events * one.cycles;
  }
  // What lies in no file ("[vdso]", "//anon") has no name.
  std::copy_if(std::move_iterator(some.mappings.begin()), std::move_iterator(some.mappings.end()),
               std::back_inserter(sum_.mappings),
               [](const code_mapping& one) { return one.path.starts_with('/') && !one.path.starts_with("//"); });
  sum_.starts.insert(sum_.starts.end(), some.starts.begin(), some.starts.end());
  sum_.lost += some.lost;
  sum_.damaged += some.damaged;
}

code_samples sample_adder::take() {
  // Rings of several CPUs were read one after the other.
  std::stable_sort(sum_.mappings.begin(), sum_.mappings.end(),
                   [](const code_mapping& a, const code_mapping& b) { return a.time_ns < b.time_ns; });
  return std::move(sum_);
}

}  // namespace txsync::inline TXSYNC_BACKEND::launch

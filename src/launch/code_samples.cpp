// SPDX-License-Identifier: Apache-2.0
#include "launch/code_samples.hpp"

#include <linux/perf_event.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

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

void sample_adder::count(code_sample& sample) {
  ++sum_.samples;
  sampled_place place{sample.process, sample.code, std::move(sample.calls), cause_of(sample.transaction)};
  auto at = sum_.places.find(place);
  if (at == sum_.places.end()) {
    if (sum_.places.size() >= max_places) {
      ++sum_.left_out;
      return;
    }
    at = sum_.places.emplace(std::move(place), sample_sum()).first;
  }
  ++at->second.samples;
  at->second.events += sample.events;
  at->second.cycles += sample.events * sample.cycles;
}

void sample_adder::add(sample_records some) {
  for (code_sample& one : some.samples) count(one);
  // What lies in no file ("[vdso]", "//anon") has no name.
  std::copy_if(std::move_iterator(some.mappings.begin()), std::move_iterator(some.mappings.end()),
               std::back_inserter(sum_.mappings),
               [](const code_mapping& one) { return one.path.starts_with('/') && !one.path.starts_with("//"); });
  sum_.starts.insert(sum_.starts.end(), some.starts.begin(), some.starts.end());
  sum_.lost += some.lost;
  sum_.damaged += some.damaged;
  if (std::max(sum_.mappings.size(), sum_.starts.size()) > next_look_) forget_ended();
}

/// A shell script may start a hundred thousand processes. Only some are needed: those that run, those that have
/// samples, and the parents of both, since a child runs what its parent has mapped.
void sample_adder::forget_ended() {
  std::set<std::uint32_t> known;
  for (const code_mapping& one : sum_.mappings) known.insert(one.process);
  std::map<std::uint32_t, std::vector<std::uint32_t>> parents;  // several if a number was given again
  for (const process_start& start : sum_.starts) {
    known.insert(start.process);
    parents[start.process].push_back(start.parent);
  }
  std::vector<std::uint32_t> next;
  next.reserve(sum_.places.size());
  for (const auto& [place, sum] : sum_.places) next.push_back(place.process);
  std::remove_copy_if(known.begin(), known.end(), std::back_inserter(next), has_ended_);
  std::set<std::uint32_t> needed;
  while (!next.empty()) {
    const std::uint32_t process = next.back();
    next.pop_back();
    if (!needed.insert(process).second) continue;
    const std::vector<std::uint32_t>& before = parents[process];
    next.insert(next.end(), before.begin(), before.end());
  }
  const auto is_needed_no_more = [&needed](const auto& one) { return !needed.contains(one.process); };
  std::erase_if(sum_.mappings, is_needed_no_more);
  std::erase_if(sum_.starts, is_needed_no_more);
  const auto bound = [this](auto& list, std::size_t max) {
    if (list.size() <= max) return;
    sum_.unnamed += list.size() - max;
    list.resize(max);
  };
  bound(sum_.mappings, max_mappings);
  bound(sum_.starts, max_starts);
  // Not at each call if most are needed.
  const std::size_t more = std::max(sum_.mappings.size(), sum_.starts.size()) + max_mappings / 8;
  next_look_ = std::clamp(more, max_mappings / 2, max_mappings);
}

code_samples sample_adder::take() {
  // The rings of several CPUs were read one after the other.
  std::stable_sort(sum_.mappings.begin(), sum_.mappings.end(),
                   [](const code_mapping& a, const code_mapping& b) { return a.time_ns < b.time_ns; });
  return std::move(sum_);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch

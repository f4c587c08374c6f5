// SPDX-License-Identifier: Apache-2.0
#include "observe/document/sites.hpp"

#include <algorithm>
#include <cmath>

#include "observe/name_words.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {
namespace {

percentile_record percentiles_of(const histogram_total& times) {
  percentile_record made{times.count(), {}};
  if (made.samples == 0) return made;
  for (const auto& [name, part] : written_percentiles) {
    made.values.emplace_back(name, static_cast<double>(times.percentile(part)));
  }
  return made;
}

using cause_counts = std::vector<std::pair<std::string, std::uint64_t>>;

cause_counts causes_of(const std::uint64_t (&aborts)[abort_cause_count]) {
  cause_counts made;
  for (std::size_t i = 0; i < abort_cause_count; ++i) {
    if (aborts[i] != 0) made.emplace_back(to_string(static_cast<abort_cause>(i)), aborts[i]);
  }
  return made;
}

void add(cause_counts& sum, const cause_counts& part) {
  for (const auto& [cause, count] : part) {
    const auto known = std::find_if(sum.begin(), sum.end(), [&](const auto& one) { return one.first == cause; });
    if (known == sum.end())
      sum.emplace_back(cause, count);
    else
      known->second += count;
  }
}

std::optional<transaction_record> transactions_of(const transaction_totals& from) {
  if (from.is_empty()) return {};
  return transaction_record{from.commits, from.alone, from.waits, causes_of(from.aborts)};
}

const char* word_of(std::uint64_t reason) {
  switch (static_cast<path_reason>(reason)) {
    case path_reason::by_algorithm:
      break;
    case path_reason::by_cycles:
      return "cycles";
    case path_reason::not_timed:
      return "not-timed";
    case path_reason::no_hardware:
      return "no-hardware";
    case path_reason::by_block_policy:
      return "block-policy";
  }
  return "algorithm";
}

/// Nothing if the block has not run: notes outlast what is counted in an interval.
std::optional<path_record> path_of(const site_totals& counted) {
  const path_note& from = counted.path;
  if (from.noted == 0 || (counted.attempts.attempts() == 0 && counted.transactions.is_empty())) return {};
  return path_record{from.noted,           name_in(from.algorithm), from.in_hardware != 0,
                     word_of(from.reason), from.hardware_cycles,    from.software_cycles};
}

std::optional<speculation_record> speculation_of(const site_totals& counted) {
  const attempt_totals& from = counted.attempts;
  if (from.attempts() == 0) return {};
  speculation_record made;
  made.attempts = from.attempts();
  made.commits = from.commits;
  made.failed = from.failed;
  made.elided = from.elided;
  made.fallbacks = counted.fallbacks();
  made.aborts = causes_of(from.aborts);
  made.lost_ns = from.lost_ns;
  made.lost_error_ns = 32 * std::sqrt(static_cast<double>(from.lost_variance));
  made.lost_samples = from.lost_samples;
  return made;
}

}  // namespace

double carried_figures(double percentile) noexcept {
  if (!(percentile >= 100)) return percentile;
  const double unit = std::pow(10, std::floor(std::log10(percentile)) - 1);
  return std::round(percentile / unit) * unit;
}

bool is_idle(const site_totals& counted) noexcept {
  return counted.acquisitions == 0 && counted.contended == 0 && counted.condition_waits == 0 &&
         counted.failed_waits == 0 && counted.attempts.attempts() == 0 && counted.transactions.is_empty() &&
         counted.warm_ups.runs == 0;
}

void add(site_totals& sum, const site_totals& part) noexcept {
  sum.name = part.name;
  sum.id = part.id;
  sum.acquisitions += part.acquisitions;
  sum.unwatched += part.unwatched;
  sum.contended += part.contended;
  sum.wait_ns += part.wait_ns;
  sum.max_wait_ns = std::max(sum.max_wait_ns, part.max_wait_ns);
  sum.failed_waits += part.failed_waits;
  sum.failed_wait_ns += part.failed_wait_ns;
  sum.unfinished_waits = part.unfinished_waits;
  sum.unfinished_wait_ns = part.unfinished_wait_ns;
  sum.hold_ns += part.hold_ns;
  sum.condition_waits += part.condition_waits;
  sum.condition_wait_ns += part.condition_wait_ns;
  for (std::size_t i = 0; i < buckets::count; ++i) {
    sum.wait.slots[i] += part.wait.slots[i];
    sum.hold.slots[i] += part.hold.slots[i];
  }
  add(sum.attempts, part.attempts);
  add(sum.transactions, part.transactions);
  add(sum.path, part.path);
  add(sum.warm_ups, part.warm_ups);
}

namespace {
void add(speculation_record& sum, const speculation_record& part) {
  sum.attempts += part.attempts;
  sum.commits += part.commits;
  sum.failed += part.failed;
  sum.elided += part.elided;
  sum.fallbacks += part.fallbacks;
  add(sum.aborts, part.aborts);
  sum.lost_ns += part.lost_ns;
  sum.lost_error_ns = std::hypot(sum.lost_error_ns, part.lost_error_ns);
  sum.lost_samples += part.lost_samples;
}
void add(transaction_record& sum, const transaction_record& part) {
  sum.commits += part.commits;
  sum.alone += part.alone;
  sum.waits += part.waits;
  add(sum.aborts, part.aborts);
}
}  // namespace

void add(std::optional<speculation_record>& sum, const std::optional<speculation_record>& part) {
  if (!part) return;
  if (!sum) sum.emplace();
  add(*sum, *part);
}

void add(std::optional<transaction_record>& sum, const std::optional<transaction_record>& part) {
  if (!part) return;
  if (!sum) sum.emplace();
  add(*sum, *part);
}

void add(std::optional<path_record>& sum, const std::optional<path_record>& part) {
  if (part && (!sum || part->noted > sum->noted)) sum = part;
}

void add(std::optional<warm_record>& sum, const std::optional<warm_record>& part) {
  if (!part) return;
  if (!sum) sum.emplace();
  sum->runs += part->runs;
  sum->attempts += part->attempts;
  sum->ns += part->ns;
  add(sum->aborts, part->aborts);
}

site_record record_of(const site_totals& counted) {
  site_record made;
  if (counted.name != nullptr) made.name = counted.name;
  made.acquisitions = counted.acquisitions;
  made.unwatched = counted.unwatched;
  made.contended = counted.contended;
  made.wait_ns = counted.wait_ns;
  made.max_wait_ns = counted.max_wait_ns;
  made.failed_waits = counted.failed_waits;
  made.failed_wait_ns = counted.failed_wait_ns;
  made.unfinished_waits = counted.unfinished_waits;
  made.unfinished_wait_ns = counted.unfinished_wait_ns;
  made.hold_ns = counted.hold_ns;
  made.condition_waits = counted.condition_waits;
  made.condition_wait_ns = counted.condition_wait_ns;
  made.wait = percentiles_of(counted.wait);
  made.hold = percentiles_of(counted.hold);
  made.speculation = speculation_of(counted);
  made.transactions = transactions_of(counted.transactions);
  made.path = path_of(counted);
  if (const warm_totals& warm = counted.warm_ups; warm.runs != 0)
    made.warm_ups = {warm.runs, warm.attempts, warm.ns, causes_of(warm.aborts)};
  return made;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe

// SPDX-License-Identifier: Apache-2.0
#include <txsync/machine/assert.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/observe/attempts.hpp>

#include <algorithm>
#include <iterator>
#include <txsync/observe/counters.hpp>

#include "commit_counts.hpp"
#include "thread_block.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

namespace {

std::uint64_t less(std::uint64_t from, std::uint64_t what) noexcept { return from - std::min(from, what); }

site_counters* all_counters_here(std::uint32_t site_id) noexcept {
  thread_block* const block = site_id != 0 ? block_of_thread() : nullptr;
  return block != nullptr ? counters_of(*block, site_id) : nullptr;
}

attempt_counters* counters_here(std::uint32_t site_id) noexcept {
  site_counters* const counters = all_counters_here(site_id);
  return counters != nullptr ? &counters->attempts : nullptr;
}

}  // namespace

constinit std::atomic<const commits_left*> where_commits_are_left{nullptr};
[[gnu::tls_model("initial-exec")]] constinit thread_local own_commits my_commits;

bool add_commits(site& the_site, const commits_left& left) noexcept {
  own_commits& mine = my_commits;
  const bool is_first = mine.counters == nullptr;
  // If the site is not counted now, this is not remembered, so that counting begins as soon as it is turned on.
  if (is_first) {
    // Written only if it changes, because the attempts of all threads read the line. relaxed: see the declaration.
    if (where_commits_are_left.load(std::memory_order_relaxed) != &left)
      where_commits_are_left.store(&left, std::memory_order_relaxed);
    mine = {.counters = counters_here(detail::counted_id(the_site)), .drawn = 1};
  }
  if (mine.counters == nullptr) {
    left.set(1);
    return false;
  }
  const std::uint64_t attempts = mine.counters->begun.add(mine.drawn);
  const bool times = is_first ? times_next(attempts) : mine.times_next;
  mine.added = static_cast<std::uint16_t>(std::min<std::uint32_t>(mine.added + mine.drawn, 0xFFFF));
  const std::uint32_t max = std::min(1 + mine.added / min_counted_for_one_apart, max_commits_apart);
  const timing_draw next = draw_timing(attempts, max);
  left.set(next.sections);
  mine.drawn = next.sections;
  mine.times_next = next.times_last;
  return times;
}

/// Counts of running threads are not all of one moment, so differences are cut off at 0.
attempt_totals difference(const attempt_totals& later, const attempt_totals& earlier) noexcept {
  TXSYNC_ASSERT(later.failed >= earlier.failed, "the later snapshot of attempts comes first");
  attempt_totals result;
  result.commits = less(later.commits, earlier.commits);
  result.elided = less(later.elided, earlier.elided);
  result.failed = less(later.failed, earlier.failed);
  result.lost_ns = less(later.lost_ns, earlier.lost_ns);
  result.lost_samples = less(later.lost_samples, earlier.lost_samples);
  result.lost_variance = less(later.lost_variance, earlier.lost_variance);
  for (std::size_t i = 0; i < abort_cause_count; ++i) result.aborts[i] = less(later.aborts[i], earlier.aborts[i]);
  return result;
}

transaction_totals difference(const transaction_totals& later, const transaction_totals& earlier) noexcept {
  TXSYNC_ASSERT(later.commits >= earlier.commits, "the later snapshot of transactions comes first");
  transaction_totals result;
  result.commits = less(later.commits, earlier.commits);
  result.alone = less(later.alone, earlier.alone);
  result.waits = less(later.waits, earlier.waits);
  for (std::size_t i = 0; i < abort_cause_count; ++i) result.aborts[i] = less(later.aborts[i], earlier.aborts[i]);
  return result;
}

warm_totals difference(const warm_totals& later, const warm_totals& earlier) noexcept {
  TXSYNC_ASSERT(later.runs >= earlier.runs, "the later snapshot of warm-ups comes first");
  warm_totals result{less(later.runs, earlier.runs), less(later.attempts, earlier.attempts),
                     less(later.ns, earlier.ns)};
  for (std::size_t i = 0; i < abort_cause_count; ++i) result.aborts[i] = less(later.aborts[i], earlier.aborts[i]);
  return result;
}

void add(warm_totals& total, const warm_counters& counters) noexcept {
  total.runs += counters.runs.read();
  total.ns += counters.ns.read();
  for (std::size_t i = 0; i < abort_cause_count; ++i) {
    const std::uint64_t aborts = counters.aborts[i].read();
    total.attempts += aborts;
    total.aborts[i] += aborts;
  }
}

void add(transaction_totals& total, const transaction_counters& counters) noexcept {
  total.commits += counters.commits.read();
  total.alone += counters.alone.read();
  total.waits += counters.waits.read();
  for (std::size_t i = 0; i < abort_cause_count; ++i) total.aborts[i] += counters.aborts[i].read();
}

path_note note_in(const path_counters& counters) noexcept {
  path_note made;
  made.noted = counters.noted.read();
  for (std::size_t i = 0; i < std::size(made.algorithm); ++i) made.algorithm[i] = counters.algorithm[i].read();
  made.in_hardware = counters.in_hardware.read();
  made.reason = counters.reason.read();
  made.hardware_cycles = counters.hardware_cycles.read();
  made.software_cycles = counters.software_cycles.read();
  return made;
}

void put(path_counters& counters, const path_note& note) noexcept {
  counters.noted.set(note.noted);
  for (std::size_t i = 0; i < std::size(note.algorithm); ++i) counters.algorithm[i].set(note.algorithm[i]);
  counters.in_hardware.set(note.in_hardware);
  counters.reason.set(note.reason);
  counters.hardware_cycles.set(note.hardware_cycles);
  counters.software_cycles.set(note.software_cycles);
}

namespace {
/// Without atomic blocks.
std::uint64_t commits(const attempt_counters& counters) noexcept {
  std::uint64_t aborted = 0;
  for (const tally& one : counters.aborts) aborted += one.read();
  return less(counters.begun.read(), aborted);
}
}  // namespace

std::uint64_t elided_sections(const attempt_counters& counters) noexcept {
  return less(commits(counters) + counters.joined.read(), counters.empty.read());
}

void add(attempt_totals& total, const attempt_counters& counters) noexcept {
  for (std::size_t i = 0; i < abort_cause_count; ++i) total.aborts[i] += counters.aborts[i].read();
  total.commits += commits(counters) + counters.blocks.read();
  total.elided += elided_sections(counters) + counters.blocks.read();
  total.failed += counters.failed.read();
  total.lost_ns += counters.lost_ns.read();
  total.lost_samples += counters.lost_samples.read();
  total.lost_variance += counters.lost_variance.read();
}

void count_joined(site& the_site, std::uint32_t sections) noexcept {
  if (attempt_counters* const counters = counters_here(detail::counted_id(the_site))) counters->joined.add(sections);
}

void count_empty(site& the_site) noexcept {
  my_commits.add();  // including the commit that ran no section
  if (attempt_counters* const counters = counters_here(detail::counted_id(the_site))) counters->empty.add(1);
}

namespace detail {

void attempt_aborted(std::uint32_t site_id, abort_cause why) noexcept {
  // Attempts read it. If nothing else is on its page, each of them would end by a page fault, and none would store it.
  static_cast<void>(where_commits_are_left.load(std::memory_order_relaxed));
  attempt_counters* const counters = counters_here(site_id);
  if (counters == nullptr) return;
  counters->begun.add(1);
  counters->aborts[static_cast<std::size_t>(why)].add(1);
}

bool attempts_failed(std::uint32_t site_id) noexcept {
  attempt_counters* const counters = counters_here(site_id);
  if (counters == nullptr) return false;
  counters->failed.add(1);
  return times_next(counters->begun.read());
}

void warmed_up(std::uint32_t site_id, std::uint64_t cycles, const abort_cause* attempt_ended_by) noexcept {
  TXSYNC_ASSERT(!machine::active(), "a warm-up is counted outside of attempts");
  site_counters* const counters = all_counters_here(site_id);
  if (counters == nullptr) return;
  counters->warm_ups.runs.add(1);
  counters->warm_ups.ns.add(to_ns(cycles));
  if (attempt_ended_by != nullptr) counters->warm_ups.aborts[static_cast<std::size_t>(*attempt_ended_by)].add(1);
}

void lost_in_attempts(std::uint32_t site_id, std::uint64_t cycles, std::uint32_t weight) noexcept {
  attempt_counters* const counters = counters_here(site_id);
  if (counters == nullptr) return;
  const std::uint64_t ns = to_ns(cycles);
  counters->lost_ns.add(ns * weight);
  counters->lost_samples.add(1);
  // Horvitz and Thompson's estimate, for sections that are timed independently with probability 1/weight.
  const std::uint64_t bounded = std::min<std::uint64_t>(ns, 1u << 28);  // so that the square fits into 64 bits
  counters->lost_variance.add(bounded * bounded * weight * (weight - 1) / 1024);
}

}  // namespace detail

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe

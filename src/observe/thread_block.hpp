// SPDX-License-Identifier: Apache-2.0
// A thread's block of counters, and the counters of a site in it. Other processes read this layout (blocks.hpp).
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <txsync/machine/abort_cause.hpp>
#include <txsync/observe/counters.hpp>

#include "blocks.hpp"
#include "ownership.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

/// One number with one writer. Relaxed throughout: readers accept any value that it has had.
class tally {
 public:
  /// Returns the new value.
  std::uint64_t add(std::uint64_t amount) noexcept {
    const std::uint64_t sum = value_.load(std::memory_order_relaxed) + amount;
    value_.store(sum, std::memory_order_relaxed);
    return sum;
  }
  void set(std::uint64_t amount) noexcept { value_.store(amount, std::memory_order_relaxed); }
  void raise_to(std::uint64_t amount) noexcept {
    if (value_.load(std::memory_order_relaxed) < amount) value_.store(amount, std::memory_order_relaxed);
  }
  std::uint64_t read() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// What happened to a site's attempts. Those that committed are those that began and did not abort.
struct attempt_counters {
  tally begun;   // without commits that threads have not added yet (commit_counts.hpp), and without `blocks`
  tally blocks;  // attempts that committed and ran an atomic block, not a critical section
  tally joined;  // critical sections beyond the first in an attempt that committed
  tally empty;   // attempts that committed without a critical section
  tally failed, lost_ns, lost_variance, lost_samples;
  tally aborts[abort_cause_count];
};

/// What happened to an atomic block's software transactions.
struct transaction_counters {
  tally commits, alone, waits;
  tally aborts[abort_cause_count];
};

/// What the thread last noted of the path that an atomic block takes (path_note).
struct path_counters {
  tally noted, algorithm[2], in_hardware, reason, hardware_cycles, software_cycles;
};

/// What the waiters of a site's warming locks ran while they waited.
struct warm_counters {
  tally runs, ns;
  tally aborts[abort_cause_count];  // of always-abort attempts, all of which abort
};

struct speculation_counters {
  attempt_counters attempts;
  transaction_counters transactions;
  path_counters path;
  warm_counters warm_ups;
};

struct site_counters : speculation_counters {
  wait_sum waited, held_up;  // since the owning thread's last call chain
  tally acquisitions, unwatched, contended, wait_ns, max_wait_ns, failed_waits, failed_wait_ns, hold_ns,
      condition_waits, condition_wait_ns;
  histogram wait, hold;
};

struct thread_block {
  thread_block* next = nullptr;  // fixed before the block is published
  ownership owner{};             // set up when the block is taken
  std::atomic<std::uint32_t> waiting_site{0};
  std::atomic<std::uint64_t> waiting_since{0};  // cycles; 0: the thread does not wait for a lock
  std::atomic<std::uint64_t> ended_at{0};       // cycles; when the process ended. 0: it runs, or was killed
  // What the owning thread needs for sampling:
  std::uint64_t random = 0;
  std::uint32_t samples = 0;
  std::uint32_t weight = 1;      // acquisitions that the next sample stands for
  std::uint64_t held_since = 0;  // cycles; when detail::timed_lock was acquired
  std::uint32_t held_weight = 0;
  std::uint32_t held_site = 0;
  std::uint32_t skipped = 0;  // samples since then that were not timed
  // Where the counters of its sites are, by the parts below, for the process that has the block. The thread writes them
  // with release; others read with acquire. Null: that part is not mapped.
  static constexpr unsigned part_count = 9;
  std::uint32_t number = 0;              // given by the block source
  std::atomic<std::uint32_t> thread{0};  // machine::thread_id() of the last owner; relaxed
  std::atomic<site_counters*> parts[part_count] = {};
  // The owner's: one bit for each site whose counters can be written.
  std::uint64_t reserved[site::site_limit / 64 + 1] = {};
};

/// The counters follow the head, those of site 0 first. Part 0 has 32 sites and is taken with the head. Each other part
/// goes up to the next power of two.
inline constexpr std::size_t head_bytes = (sizeof(thread_block) + 63) / 64 * 64;
constexpr unsigned part_of(std::uint32_t site_id) noexcept {
  return site_id < 32 ? 0 : static_cast<unsigned>(std::bit_width(site_id)) - 5;
}
constexpr std::uint32_t first_of(unsigned part) noexcept { return part == 0 ? 0 : 16u << part; }
constexpr std::size_t offset_of(std::uint32_t site_id) noexcept {
  return head_bytes + std::min(site_id, site::site_limit + 1) * sizeof(site_counters);
}
static_assert(part_of(site::site_limit) == thread_block::part_count - 1);
static_assert(sizeof(site_counters) <= 2048, "two kilobytes at most, as site.hpp says: two sites a page of 4 KiB");
static_assert(offset_of(first_of(1)) <= std::size_t{16} * 4096, "a thread's first 32 sites take 16 pages at most");

/// Builds that differ in this value do not read each other's blocks. Increment the first number when numbers change
/// their meaning but not their offsets or sizes.
inline constexpr std::uint64_t layout_of_blocks = [] {
  std::uint64_t all = 2;
  for (const std::size_t part :
       {head_bytes, offsetof(thread_block, parts), sizeof(site_counters), sizeof(attempt_counters),
        sizeof(transaction_counters), sizeof(path_counters), sizeof(warm_counters), sizeof(histogram), buckets::count,
        std::size_t{abort_cause_count}, std::size_t{site::site_limit}})
    all = all * 0x9E37'79B9'7F4A'7C15u + part;
  return all;
}();

inline const site_counters& counters_in_whole(const void* block, std::uint32_t site_id) noexcept {
  return *reinterpret_cast<const site_counters*>(static_cast<const char*>(block) + offset_of(site_id));
}

/// The calling thread's block, taken at its first call; null if nothing may be counted now.
thread_block* block_of_thread() noexcept;
/// The counters of a site in the block of the calling thread, or null if they cannot be written.
site_counters* counters_of(thread_block& block, std::uint32_t site_id) noexcept;
/// The site's counters, or null if they are not mapped.
inline site_counters* mapped_counters(const thread_block& block, std::uint32_t site_id) noexcept {
  const unsigned part = part_of(site_id);
  site_counters* const begin = block.parts[part].load(std::memory_order_acquire);  // pairs with map_counters()
  return begin == nullptr ? nullptr : begin + (site_id - first_of(part));
}

void add(attempt_totals& total, const attempt_counters& counters) noexcept;
/// Critical sections that ran in attempts that committed. Atomic blocks are not among them.
std::uint64_t elided_sections(const attempt_counters& counters) noexcept;
void add(transaction_totals& total, const transaction_counters& counters) noexcept;
void add(warm_totals& total, const warm_counters& counters) noexcept;
path_note note_in(const path_counters& counters) noexcept;
/// By the counters' thread.
void put(path_counters& counters, const path_note& note) noexcept;

/// Converts a difference of machine::cycles() to nanoseconds.
std::uint64_t to_ns(std::uint64_t cycles) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe

// SPDX-License-Identifier: Apache-2.0
// Per-thread blocks of counters. A block is mapped when its thread first has something to count, and is never freed.
// When the thread has ended, a later thread takes it over with its counts, because totals only need to be added up.
// Blocks may be shared with another process that reads them (blocks.hpp).
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>

#include <txsync/machine/assert.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/memory.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/observe/counters.hpp>

#include "blocks.hpp"
#include "commit_counts.hpp"
#include "outside.hpp"
#include "ownership.hpp"
#include "registry.hpp"
#include "reporting.hpp"
#include "thread_block.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

namespace {

/// After this many samples during one timed hold, its unlock is considered missed.
constexpr std::uint32_t max_skipped = 4096;

block_source::taken take_pages(std::size_t) noexcept { return {machine::map_pages(block_bytes()), 0}; }
constexpr block_source own_pages = {take_pages, nullptr, nullptr};
// Relaxed: changed by a process with one thread, before anything is counted.
constinit std::atomic<const block_source*> source{&own_pages};

constinit std::atomic<thread_block*> all_blocks{nullptr};
constinit ownerships owners_of_blocks;
[[gnu::tls_model("initial-exec")]] constinit thread_local thread_block* my_block = nullptr;
/// A thread that got no block asks again after this many calls, because looking for one walks along all blocks.
constexpr std::uint32_t calls_without_block = 4096;
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint32_t calls_left_out = 0;

/// Where the calling thread counted its last wait that ended while it spun. The next such wait is mostly counted there,
/// too. The block stays the thread's own until forget_last_waited(). Site 0 counts nothing.
struct counted_at {
  std::uint32_t site_id;
  site_counters* counters;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local counted_at last_waited{0, nullptr};
void forget_last_waited() noexcept { last_waited = {0, nullptr}; }

/// A block whose thread has ended, or null.
thread_block* adopt() noexcept {
  if (!may_be_unowned(owners_of_blocks)) return nullptr;
  // acquire pairs with the release in publish()
  for (thread_block* block = all_blocks.load(std::memory_order_acquire); block != nullptr; block = block->next)
    if (own(block->owner)) return block;
  return nullptr;
}

/// The site's counters, which are mapped if they were not. Called by the block's thread.
site_counters* map_counters(thread_block& block, std::uint32_t site_id) noexcept {
  if (site_counters* const known = mapped_counters(block, site_id)) return known;
  const block_source& from = *source.load(std::memory_order_relaxed);
  const unsigned part = part_of(site_id);
  void* const begin = part == 0 || from.map == nullptr
                          ? reinterpret_cast<char*>(&block) + offset_of(first_of(part))
                          : from.map(block.number, offset_of(first_of(part)), offset_of(first_of(part + 1)));
  // release pairs with mapped_counters(): what an earlier process of the block counted stays
  block.parts[part].store(static_cast<site_counters*>(begin), std::memory_order_release);
  return mapped_counters(block, site_id);
}

/// The block may have belonged to a process that has ended. Its counts stay; its unfinished work is dropped.
void begin_anew(thread_block& block, std::uint32_t number) noexcept {
  // relaxed, here and below: the block is published later
  const unfinished_wait wait = unfinished_in(&block, 0);
  block.number = number;
  for (auto& part : block.parts) part.store(nullptr, std::memory_order_relaxed);
  block.waiting_since.store(0, std::memory_order_relaxed);
  block.ended_at.store(0, std::memory_order_relaxed);
  if (wait.site_id == 0 || wait.site_id > site::site_limit) return;
  if (site_counters* const counters = counters_of(block, wait.site_id)) counters->max_wait_ns.raise_to(wait.ns);
}

thread_block* publish() noexcept {
  open_outside();
  // Zeroed pages are a valid block except for `owner` and `next`. A new-expression would touch all of them.
  const block_source& from = *source.load(std::memory_order_relaxed);
  const block_source::taken got = from.take(offset_of(first_of(1)));
  auto* const block = static_cast<thread_block*>(got.begin);
  if (block == nullptr) return nullptr;
  if (from.reserve != nullptr && !from.reserve(block, sizeof(thread_block))) return nullptr;
  begin_anew(*block, got.number);
  make_unowned(block->owner, owners_of_blocks);
  const bool mine = own(block->owner);
  block->weight = 1;
  block->next = all_blocks.load(std::memory_order_relaxed);
  while (!all_blocks.compare_exchange_weak(block->next, block, std::memory_order_release, std::memory_order_relaxed)) {
  }
  return mine ? block : nullptr;
}

}  // namespace

thread_block* block_of_thread() noexcept {
  if (my_block != nullptr) return my_block;
  if (!may_own() || machine::active()) return nullptr;  // no mapping inside an attempt
  if (calls_left_out > 0) {
    --calls_left_out;
    return nullptr;
  }
  thread_block* block = adopt();
  if (block == nullptr) block = publish();
  if (block == nullptr) {
    calls_left_out = calls_without_block;
    return nullptr;
  }
  block->random = (std::uint64_t{machine::thread_id()} * 0x9E3779B97F4A7C15u) | 1;
  block->samples = 0;
  block->weight = 1;
  detail::timed_lock = nullptr;
  // relaxed, here and below: readers tolerate any value of a wait's time
  block->waiting_since.store(0, std::memory_order_relaxed);
  block->thread.store(machine::thread_id(), std::memory_order_relaxed);
  my_block = block;
  return block;
}

site_counters* counters_of(thread_block& block, std::uint32_t site_id) noexcept {
  if (site_id == 0 || site_id > site::site_limit) return nullptr;
  site_counters* const counters = map_counters(block, site_id);
  const block_source& from = *source.load(std::memory_order_relaxed);
  if (counters == nullptr || from.reserve == nullptr) return counters;
  std::uint64_t& reserved = block.reserved[site_id / 64];
  const std::uint64_t bit = std::uint64_t{1} << site_id % 64;
  if ((reserved & bit) != 0) return counters;
  // No look at the page first: even reading a page that nobody has written would allocate it.
  if (!from.reserve(counters, sizeof *counters)) return nullptr;
  reserved |= bit;
  return counters;
}

namespace {

/// The counters of a site in the block of the calling thread, which has just ended a wait there.
site_counters* counters_after_wait(std::uint32_t site_id) noexcept {
  thread_block* const block = block_of_thread();
  if (block == nullptr) return nullptr;
  block->waiting_since.store(0, std::memory_order_relaxed);
  return counters_of(*block, site_id);
}

}  // namespace

std::uint64_t to_ns(std::uint64_t cycles) noexcept {
  // Nanoseconds per cycle in units of 1/2^20. relaxed: a constant, which several threads may compute.
  static constinit std::atomic<std::uint64_t> scale{0};
  std::uint64_t known = scale.load(std::memory_order_relaxed);
  if (known == 0) {
    known = (std::uint64_t{1'000'000'000} << 20) / machine::cycles_per_second();
    scale.store(known, std::memory_order_relaxed);
  }
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(cycles) * known) >> 20);
}

namespace {

/// Called at the end of each hold; if it is set, each acquisition is a sample. Relaxed: set before anything is counted.
constinit std::atomic<hold_watcher> watcher{nullptr};

/// How many acquisitions to skip until the next sample. The period grows with the number of samples taken. So the first
/// acquisitions of a thread are counted one by one, and small numbers stay exact.
std::uint32_t next_weight(thread_block& block) noexcept {
  ++block.samples;
  if (watcher.load(std::memory_order_relaxed) != nullptr) return 1;
  std::uint32_t period = block.samples / 16 + 1;
  if (period > sampling_period) period = sampling_period;
  if (period < 4) return period;
  block.random ^= block.random << 13;
  block.random ^= block.random >> 7;
  block.random ^= block.random << 17;
  return period / 2 + static_cast<std::uint32_t>(block.random % (period + 1));
}

/// Adds to a sum. Returns the sum if it is full, and starts it anew.
wait_sum overflow(wait_sum& sum, std::uint64_t waits, std::uint64_t ns, std::uint64_t full_at) noexcept {
  if (full_at == 0) return {};
  sum.waits += waits;
  sum.ns += ns;
  return sum.ns < full_at ? wait_sum{} : std::exchange(sum, {});
}

/// Counts the wait before anybody is told of it.
wait_sum count_wait(site_counters* counters, std::uint64_t ns, std::uint64_t full_at) noexcept {
  if (counters == nullptr) return {};
  counters->contended.add(1);
  counters->wait_ns.add(ns);
  counters->max_wait_ns.raise_to(ns);
  counters->wait.add(ns);
  return overflow(counters->waited, 1, ns, full_at);
}

wait_sum count_failed_wait(site_counters* counters, std::uint64_t ns, std::uint64_t full_at) noexcept {
  if (counters == nullptr) return {};
  counters->failed_waits.add(1);
  counters->failed_wait_ns.add(ns);
  counters->max_wait_ns.raise_to(ns);
  return overflow(counters->waited, 1, ns, full_at);
}

}  // namespace

wait_sum waited(std::uint32_t site_id, const void* lock, std::uint64_t cycles, std::uint64_t full_at) noexcept {
  const std::uint64_t ns = to_ns(cycles);
  const wait_sum sum = count_wait(counters_after_wait(site_id), ns, full_at);
  report_wait_end(site_id, lock, ns, true);
  return sum;
}

wait_sum wait_timed_out(std::uint32_t site_id, const void* lock, std::uint64_t cycles, std::uint64_t full_at) noexcept {
  const std::uint64_t ns = to_ns(cycles);
  const wait_sum sum = count_failed_wait(counters_after_wait(site_id), ns, full_at);
  report_wait_end(site_id, lock, ns, false);
  return sum;
}

wait_sum held_up(std::uint32_t site_id, std::uint64_t waits, std::uint64_t cycles, std::uint64_t full_at) noexcept {
  thread_block* const block = block_of_thread();
  site_counters* const counters = block != nullptr ? counters_of(*block, site_id) : nullptr;
  return counters != nullptr ? overflow(counters->held_up, waits, to_ns(cycles), full_at) : wait_sum{};
}

void watch_holds(hold_watcher watching) noexcept {
  TXSYNC_ASSERT(my_block == nullptr || watching == nullptr, "holds are watched from the first count on");
  watcher.store(watching, std::memory_order_relaxed);
}

namespace detail {

[[gnu::tls_model("initial-exec")]] constinit thread_local std::int32_t until_sample = 1;
[[gnu::tls_model("initial-exec")]] constinit thread_local const void* timed_lock = nullptr;

namespace {
/// A sample of the calling thread; null `counters`: it is not counted.
struct sampled {
  thread_block* block;
  site_counters* counters;
  std::uint32_t stood_for;
};
sampled take_sample(std::uint32_t site_id) noexcept {
  thread_block* const block = block_of_thread();
  if (block == nullptr) {
    until_sample = sampling_period;
    return {};
  }
  const std::uint32_t stood_for = block->weight;
  block->weight = next_weight(*block);
  until_sample = static_cast<std::int32_t>(block->weight);
  site_counters* const counters = counters_of(*block, site_id);
  if (counters != nullptr) counters->acquisitions.add(stood_for);
  return {block, counters, stood_for};
}
}  // namespace

void sample_unwatched(std::uint32_t site_id) noexcept {
  const auto [block, counters, stood_for] = take_sample(site_id);
  if (counters != nullptr) counters->unwatched.add(stood_for);
}

bool announce_unwatched() noexcept {
  announce_outside();
  return true;
}

bool sample(std::uint32_t site_id, const void* lock) noexcept {
  const auto [block, counters, stood_for] = take_sample(site_id);
  if (counters == nullptr) return false;
  // An outer lock is being timed, or another thread has unlocked it, which this thread never learns.
  if (timed_lock != nullptr && ++block->skipped < max_skipped) return false;
  block->skipped = 0;
  timed_lock = lock;
  block->held_site = site_id;
  block->held_weight = stood_for;
  block->held_since = machine::cycles();
  return true;
}

void hold_ends(const void* lock) noexcept {
  thread_block* const block = my_block;
  if (block == nullptr || timed_lock != lock) return;
  const std::uint64_t cycles = machine::cycles() - block->held_since;
  const std::uint64_t held = to_ns(cycles);
  timed_lock = nullptr;
  if (const hold_watcher watching = watcher.load(std::memory_order_relaxed); watching != nullptr) [[unlikely]]
    watching(block->held_site, lock, block->held_since, cycles);
  // It is mapped, because the sample was counted there.
  site_counters* const counters = mapped_counters(*block, block->held_site);
  counters->hold_ns.add(held * block->held_weight);
  counters->hold.add(held);
}

std::uint64_t wait_begins(std::uint32_t site_id, const void* lock) noexcept {
  (void)spin_begins(site_id, lock);
  return park_begins(site_id, machine::cycles());
}

bool spin_begins(std::uint32_t site_id, const void* lock) noexcept { return report_wait_begin(site_id, lock); }

void spun(std::uint32_t site_id, std::uint64_t cycles) noexcept {
  TXSYNC_ASSERT(my_block == nullptr || my_block->waiting_since.load(std::memory_order_relaxed) == 0,
                "the thread spins, and has not begun to park");
  if (last_waited.site_id != site_id) [[unlikely]] {
    thread_block* const block = block_of_thread();
    site_counters* const counters = block != nullptr ? counters_of(*block, site_id) : nullptr;
    if (counters == nullptr) return;
    last_waited = {site_id, counters};
  }
  (void)count_wait(last_waited.counters, to_ns(cycles), 0);
}

std::uint64_t park_begins(std::uint32_t site_id, std::uint64_t since) noexcept {
  const std::uint64_t start = since != 0 ? since : machine::cycles();
  thread_block* const block = site_id != 0 ? block_of_thread() : nullptr;
  if (block == nullptr) return start;
  block->waiting_site.store(site_id, std::memory_order_relaxed);
  block->waiting_since.store(start, std::memory_order_release);  // publishes the site, too; pairs with unfinished_in()
  return start;
}

void wait_timed_out(std::uint32_t site_id, const void* lock, std::uint64_t cycles) noexcept {
  (void)observe::wait_timed_out(site_id, lock, cycles, 0);
}

void waited(std::uint32_t site_id, const void* lock, std::uint64_t cycles) noexcept {
  (void)observe::waited(site_id, lock, cycles, 0);
}

void condition_waited(std::uint32_t site_id, std::uint64_t cycles) noexcept {
  thread_block* const block = block_of_thread();
  site_counters* const counters = block != nullptr ? counters_of(*block, site_id) : nullptr;
  if (counters == nullptr) return;
  counters->condition_waits.add(1);
  counters->condition_wait_ns.add(to_ns(cycles));
}

}  // namespace detail

namespace {
/// The critical sections that took the lock, estimated from samples, and those that ran in attempts.
std::uint64_t acquisitions(const site_counters& counters) noexcept {
  return counters.acquisitions.read() + elided_sections(counters.attempts);
}

void add(site_totals& total, const site_counters& counters) noexcept {
  total.acquisitions += acquisitions(counters);
  total.unwatched += counters.unwatched.read();
  total.contended += counters.contended.read();
  total.wait_ns += counters.wait_ns.read();
  total.max_wait_ns = std::max(total.max_wait_ns, counters.max_wait_ns.read());
  total.failed_waits += counters.failed_waits.read();
  total.failed_wait_ns += counters.failed_wait_ns.read();
  total.hold_ns += counters.hold_ns.read();
  total.condition_waits += counters.condition_waits.read();
  total.condition_wait_ns += counters.condition_wait_ns.read();
  total.wait.merge(counters.wait);
  total.hold.merge(counters.hold);
  add(total.attempts, counters.attempts);
  add(total.transactions, counters.transactions);
  add(total.path, note_in(counters.path));
  add(total.warm_ups, counters.warm_ups);
}

/// Adds the thread's wait if it waits at this site now. The block is of this process.
void add_unfinished(site_totals& total, const thread_block& block) noexcept {
  const unfinished_wait wait = unfinished_in(&block, machine::cycles());
  if (wait.site_id == total.id) add(total, wait);
}
}  // namespace

void add(site_totals& total, const unfinished_wait& wait) noexcept {
  ++total.unfinished_waits;
  ++total.failed_waits;
  total.failed_wait_ns += wait.ns;
  total.unfinished_wait_ns += wait.ns;
  total.max_wait_ns = std::max(total.max_wait_ns, wait.ns);
}

void add_speculation(std::uint32_t site_id, attempt_totals& attempts, transaction_totals& transactions) noexcept {
  if (site_id == 0 || site_id > site::site_limit) return;
  my_commits.add();
  // acquire pairs with the release in publish()
  for (thread_block* block = all_blocks.load(std::memory_order_acquire); block != nullptr; block = block->next) {
    const site_counters* const counters = mapped_counters(*block, site_id);
    if (counters == nullptr) continue;
    add(attempts, counters->attempts);
    add(transactions, counters->transactions);
  }
}

std::uint32_t snapshot(site_totals* out, std::uint32_t capacity) noexcept {
  const std::uint32_t known = site_registry::count();
  my_commits.add();
  for (std::uint32_t id = 1; id <= known && id <= capacity; ++id) {
    site_totals& total = out[id - 1];
    total = {};
    total.id = id;
    total.name = site_registry::name(id);
    // acquire pairs with the release in publish()
    for (thread_block* block = all_blocks.load(std::memory_order_acquire); block != nullptr; block = block->next) {
      if (const site_counters* const counters = mapped_counters(*block, id)) add(total, *counters);
      add_unfinished(total, *block);
    }
    // Samples may lag behind the exact counts.
    if (total.acquisitions < total.contended) total.acquisitions = total.contended;
  }
  return known;
}

std::uint64_t block_layout() noexcept { return layout_of_blocks; }
std::size_t block_bytes() noexcept { return offset_of(site::site_limit + 1); }
std::size_t block_bytes_up_to(std::uint32_t sites) noexcept { return offset_of(sites + 1); }

void use_blocks_of(const block_source& from) noexcept {
  TXSYNC_ASSERT(my_block == nullptr, "the thread has counted nothing before it is told where its counts are");
  source.store(&from, std::memory_order_relaxed);
}

namespace {
constinit std::atomic<bool (*)(const ownership&)> stop_elsewhere{nullptr};
}  // namespace
// release pairs with the acquire below
void also_stops(bool (*stop)(const ownership&)) noexcept { stop_elsewhere.store(stop, std::memory_order_release); }

bool stop_counting(const ownership& block) noexcept {
  if (my_block == nullptr || &my_block->owner != &block) {
    bool (*const stop)(const ownership&) = stop_elsewhere.load(std::memory_order_acquire);
    return stop != nullptr && stop(block);
  }
  my_commits.add();
  forget_attempt_counters();
  forget_last_waited();
  my_block = nullptr;
  return true;
}

void forget_blocks() noexcept {
  all_blocks.store(nullptr, std::memory_order_relaxed);  // relaxed: the process has one thread
  my_block = nullptr;
  forget_last_waited();
  forget_attempt_counters();  // without adding commits: the parent adds them
  detail::timed_lock = nullptr;
  calls_left_out = 0;
  detail::until_sample = 1;
}

void add_block(const void* block, site_totals* totals, std::uint32_t count) noexcept {
  for (std::uint32_t id = 1; id <= count && id <= site::site_limit; ++id)
    add(totals[id - 1], counters_in_whole(block, id));
}

std::uint32_t thread_in(const void* block) noexcept {
  return static_cast<const thread_block*>(block)->thread.load(std::memory_order_relaxed);  // relaxed: a number
}

thread_turns turns_in(const void* block, std::uint32_t site_id) noexcept {
  const site_counters& counters = counters_in_whole(block, site_id);
  // Samples may lag behind the exact counts.
  return {std::max(acquisitions(counters), counters.contended.read()),
          counters.wait_ns.read() + counters.failed_wait_ns.read()};
}

unfinished_wait unfinished_in(const void* block, std::uint64_t now) noexcept {
  const auto& from = *static_cast<const thread_block*>(block);
  const std::uint64_t since = from.waiting_since.load(std::memory_order_acquire);  // pairs with park_begins()
  const std::uint64_t ended_at = from.ended_at.load(std::memory_order_relaxed);
  const std::uint64_t end = ended_at != 0 ? ended_at : now;
  // The cycle counters of two CPUs may differ a little.
  if (since == 0 || end <= since) return {};
  return {from.waiting_site.load(std::memory_order_relaxed), to_ns(end - since)};
}

void end_of_process() noexcept {
  my_commits.add();
  // acquire pairs with the release in publish()
  for (thread_block* block = all_blocks.load(std::memory_order_acquire); block != nullptr; block = block->next)
    block->ended_at.store(machine::cycles(), std::memory_order_relaxed);
}

namespace {
/// If the longest wait was before the earlier snapshot, the buckets say how long the waits after it were.
std::uint64_t max_wait_between(const site_totals& later, const site_totals& earlier) noexcept {
  if (later.max_wait_ns > earlier.max_wait_ns) return later.max_wait_ns;
  for (std::size_t i = buckets::count; i != 0; --i)
    if (later.wait.slots[i - 1] != earlier.wait.slots[i - 1])
      return std::min(buckets::middle_of(i - 1), later.max_wait_ns);
  return 0;
}
}  // namespace

site_totals difference(const site_totals& later, const site_totals& earlier) noexcept {
  TXSYNC_ASSERT(later.contended >= earlier.contended && later.wait_ns >= earlier.wait_ns,
                "the later snapshot of a site comes first");
  site_totals result = later;
  // Elided sections are estimated by a difference whose parts are counted at different times, so it may have shrunk.
  result.acquisitions -= std::min(earlier.acquisitions, later.acquisitions);
  result.unwatched -= earlier.unwatched;
  result.contended -= earlier.contended;
  result.wait_ns -= earlier.wait_ns;
  result.max_wait_ns = max_wait_between(later, earlier);
  result.failed_waits -= std::min(earlier.failed_waits, later.failed_waits);
  result.failed_wait_ns -=
      std::min(earlier.failed_wait_ns, later.failed_wait_ns);  // a wait that was unfinished then may have ended
  result.unfinished_wait_ns = std::min(later.unfinished_wait_ns, result.failed_wait_ns);  // it may have begun before
                                                                                          // the earlier snapshot
  result.hold_ns -= earlier.hold_ns;
  result.condition_waits -= earlier.condition_waits;
  result.condition_wait_ns -= earlier.condition_wait_ns;
  for (std::size_t i = 0; i < buckets::count; ++i) {
    result.wait.slots[i] -= earlier.wait.slots[i];
    result.hold.slots[i] -= earlier.hold.slots[i];
  }
  result.attempts = difference(later.attempts, earlier.attempts);
  result.transactions = difference(later.transactions, earlier.transactions);
  result.warm_ups = difference(later.warm_ups, earlier.warm_ups);
  return result;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe

// SPDX-License-Identifier: Apache-2.0
// retry(): a transaction sleeps until something that it has read has been written (Harris, Marlow, Peyton Jones and
// Herlihy, "Composable memory transactions", PPoPP 2005).
//
// A sleeper is counted in a table, in the bucket of each stripe that it has read. A transaction that commits writes
// looks there only if there are sleepers at all. It takes the lock of the list of sleepers only if they wait for a bucket
// of its own stripes. So a sleeper costs writers of other data some loads.
//
// No wake-up is lost. The sleeper is counted before it checks what it has read. Only then does it give up what it owns.
// It stands in the list later still, since it must not wait for the list's lock while it owns records. A writer that comes
// in between finds the count. It moves the bucket's number of wake-ups, and looks into the list. The sleeper looks at
// these numbers when it stands there.
#include <memory>
#include <txsync/machine/asymmetric.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/mutex.hpp>

#include "tm/algorithms.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace {

/// The number of sleepers in its low half, of wake-ups in its high half.
using bucket = std::atomic<std::uint64_t>;
constexpr std::uint64_t one_wake_up = std::uint64_t{1} << 32;
bool has_sleepers(std::uint64_t seen) noexcept { return seen % one_wake_up != 0; }

/// Zero, and touched as it is used. The union keeps the compiler from looking at each bucket.
union zeroed_buckets {
  constexpr zeroed_buckets() noexcept : nothing(0) {}
  char nothing;
  bucket all[stripe_set::bucket_count];
};
alignas(machine::pad_bytes) constinit zeroed_buckets buckets;
/// For sleepers that wait for everything, and wake-ups of everybody.
alignas(machine::pad_bytes) constinit bucket everything{0};

struct sleeper {
  const stripe_set& reads;
  std::atomic<std::uint32_t> told{0};
  sleeper* next = nullptr;
};

constinit mutex list_guard;
constinit sleeper* list TXSYNC_GUARDED_BY(list_guard) = nullptr;

/// All wake-ups that concern it so far. Only changes of the sum matter.
std::uint64_t wake_ups(const stripe_set& of) noexcept {
  std::uint64_t sum = everything.load() / one_wake_up;
  for (const std::uint32_t one : of) sum += buckets.all[one].load() / one_wake_up;
  return sum;
}

void count_in(const stripe_set& reads) noexcept {
  if (reads.has_all()) everything.fetch_add(1);
  for (const std::uint32_t one : reads) buckets.all[one].fetch_add(1);
  shared.sleepers.fetch_add(1);
  machine::heavy_fence();  // pairs with the light one of a transaction that has written (others_sleep())
}

void count_out(const stripe_set& reads) noexcept {
  if (reads.has_all()) everything.fetch_sub(1);
  for (const std::uint32_t one : reads) buckets.all[one].fetch_sub(1);
  shared.sleepers.fetch_sub(1);
}

void add(sleeper& mine) noexcept {
  list_guard.lock();
  mine.next = list;
  list = &mine;
  list_guard.unlock();
}

void remove(sleeper& mine) noexcept {
  list_guard.lock();
  sleeper** link = &list;
  while (*link != &mine) link = &(*link)->next;
  *link = mine.next;
  list_guard.unlock();
}

/// Notes a wake-up in each bucket that is waited for, and keeps those only. False: there is none.
bool note_wake_ups(stripe_set& written, stripe_set& awaited) noexcept {
  const bool all_wait = has_sleepers(everything.load());
  if (all_wait || written.has_all()) everything.fetch_add(one_wake_up);
  awaited.clear();
  for (const std::uint32_t one : written) {
    if (!has_sleepers(buckets.all[one].load())) continue;
    buckets.all[one].fetch_add(one_wake_up);
    awaited.add_index(one);
  }
  return all_wait || written.has_all() || !awaited.empty();
}

bool concerns(const stripe_set& written, const stripe_set& awaited, const stripe_set& reads) noexcept {
  if (written.has_all() || reads.has_all()) return true;
  for (const std::uint32_t one : awaited) {
    if (reads.has(one)) return true;
  }
  return awaited.has_all();
}

void wake(const stripe_set& written, const stripe_set& awaited) noexcept {
  list_guard.lock();
  for (sleeper* one = list; one != nullptr; one = one->next) {
    if (!concerns(written, awaited, one->reads)) continue;
    one->told.store(1, std::memory_order_relaxed);  // guards nothing: the sleeper reads again what it wants to know
    machine::unpark(one->told, 1);
  }
  list_guard.unlock();
}

void add_direct_writes(const engine& me, stripe_set& into) noexcept {
  if (me.written.count > direct_writes::max) return into.add_all();
  for (std::uint32_t i = 0; i < me.written.count; ++i) into.add_index(me.written.stripes[i]);
}

void sleep(sleeper& mine, std::uint64_t wake_ups_before, std::uint64_t deadline) noexcept {
  add(mine);
  if (wake_ups(mine.reads) == wake_ups_before) {
    while (mine.told.load(std::memory_order_relaxed) == 0 &&
           machine::park(mine.told, 0, deadline) != machine::park_result::timed_out) {
    }
  }
  remove(mine);
}

}  // namespace

void forget_sleepers() noexcept TXSYNC_UNCHECKED {  // there is one thread
  std::construct_at(&list_guard);
  list = nullptr;
  if (shared.sleepers.load(std::memory_order_relaxed) == 0) return;
  shared.sleepers.store(0, std::memory_order_relaxed);
  everything.store(0, std::memory_order_relaxed);
  for (bucket& one : buckets.all) one.store(0, std::memory_order_relaxed);
}

std::uint64_t count_sleepers_of(const word& cell) noexcept {
  const std::uint64_t its_own = buckets.all[stripe_set::bucket_of(engine::index_of(cell))].load();
  return shared.sleepers.load() + everything.load() % one_wake_up + its_own % one_wake_up;
}

bool is_waited_for(const growing_log<old_value>& undo) noexcept {
  if (has_sleepers(everything.load())) return true;
  for (const old_value& one : undo) {
    if (has_sleepers(buckets.all[stripe_set::bucket_of(engine::index_of(*one.cell))].load())) return true;
  }
  return false;
}

void wake_sleepers(runner& me) noexcept {
  stripe_set& written = me.stripes;
  written.clear();
  if (me.mode == run_mode::hardware || me.mode == run_mode::irrevocable) {
    add_direct_writes(me, written);
  } else {
    me.how->add_writes(me, written);
  }
  if (note_wake_ups(written, me.awaited)) wake(written, me.awaited);
}

void sleep_until_changed(runner& me, std::uint64_t deadline) noexcept {
  TXSYNC_ASSERT(!me.has_unlogged, "all reads of the transaction are logged");
  me.stripes.clear();
  me.how->add_reads(me, me.stripes);
  me.stripes.sort();
  const stripe_set& reads = me.stripes;
  count_in(reads);
  const std::uint64_t before = wake_ups(reads);
  // A transaction that commits a change from here on finds the sleeper's counts. An earlier change is seen now.
  const bool same = me.how->is_valid == nullptr || me.how->is_valid(me);
  abandon(me);
  if (same) {
    me.counts->transactions.waits.add(1);
    sleeper mine{.reads = reads};
    sleep(mine, before, deadline);
  }
  count_out(reads);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail

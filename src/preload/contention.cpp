// SPDX-License-Identifier: Apache-2.0
#include "contention.hpp"

#include <txsync/machine/cpu.hpp>
#include <txsync/observe/counters.hpp>

#include "observe/blocks.hpp"
#include "profile_writer.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace contended {
constinit std::atomic<std::uint64_t> ns_per_chain{0};
constinit record records[records_size] = {};
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint32_t chains_owed = 0;
}  // namespace contended

namespace {

using contended::chains_owed;
using contended::ns_per_chain;
using contended::record;

constinit std::atomic<bool> writes_events{false};  // relaxed: set before anything is counted

// ---- chains that are owed

struct owed_chain {
  const void* lock = nullptr;
  std::uint32_t site = 0;
  lock_call call{};
  observe::wait_sum sum;
};
/// A thread that owes chains for so many held locks notes no further one: those waits are in no chain.
constexpr std::uint32_t max_owed = 4;
[[gnu::tls_model("initial-exec")]] constinit thread_local owed_chain owed[max_owed] = {};

void owe(const owed_chain& chain) noexcept {
  if (chain.sum.ns != 0 && chains_owed < max_owed) owed[chains_owed++] = chain;
}

void pay(const void* lock) noexcept {
  for (std::uint32_t i = 0; i < chains_owed; ++i) {
    if (owed[i].lock != lock) continue;
    const owed_chain due = owed[i];
    owed[i] = owed[--chains_owed];
    write_chain(chain_kind::waits, due.call, due.site, due.sum);
    return;
  }
}

// ---- who waits for what

// One word says how many threads wait and how long all have waited. Its low bits hold the number. The bits above hold
// the ends of waits minus their beginnings, in cycles. A wait that goes on has no end there yet, so the present time is
// used for it. Arithmetic is modulo 2^48 cycles, some 20 hours: only differences are used.
constexpr unsigned waiters_bits = 16;
constexpr std::uint64_t max_waiters = (1u << waiters_bits) - 1;
constexpr std::uint64_t cycles_mask = ~std::uint64_t{0} >> waiters_bits;

std::uint64_t waiters_in(std::uint64_t word) noexcept { return word & max_waiters; }
std::uint64_t waited_in(std::uint64_t word, std::uint64_t now) noexcept {
  return ((word >> waiters_bits) + waiters_in(word) * now) & cycles_mask;
}
/// What a wait that begins now adds. Its end subtracts this, with the time of the end.
std::uint64_t one_waiter(std::uint64_t now) noexcept { return 1 - (now << waiters_bits); }

/// True: the record is the lock's. A record stays another lock's while more than `own` threads wait there. All accesses
/// to `lock` and `waits` are sequentially consistent: see vacate().
bool claim(record& lock_record, const void* lock, std::uint64_t own) noexcept {
  const void* other = lock_record.lock.load();
  if (other == lock) return true;
  const std::uint64_t word = lock_record.waits.load();
  if (waiters_in(word) > own) return false;
  if (!lock_record.lock.compare_exchange_strong(other, lock)) return other == lock;
  // relaxed, both: an earlier unlock is given a little too much
  lock_record.blamed.store(waited_in(word, machine::cycles()), std::memory_order_relaxed);
  lock_record.arrivals.store(static_cast<std::uint32_t>(own), std::memory_order_relaxed);
  return true;
}

/// Nobody waits any more, so the next unlocks need not look. A thread that arrives adds itself and then reads whose the
/// record is. This function gives the record away and then reads who waits. So one of the two sees the other.
void vacate(record& lock_record, const void* lock) noexcept {
  lock_record.lock.store(nullptr);
  if (waiters_in(lock_record.waits.load()) == 0) return;
  const void* nobody = nullptr;
  lock_record.lock.compare_exchange_strong(nobody, lock);
}

record* arrive(std::uint32_t site, const void* lock, lock_call call) noexcept {
  record& lock_record = contended::record_of(lock);
  if (!claim(lock_record, lock, 0) || waiters_in(lock_record.waits.load()) == max_waiters) return nullptr;
  const std::uint64_t me = one_waiter(machine::cycles());
  lock_record.waits.fetch_add(me);
  if (!claim(lock_record, lock, 1)) {
    lock_record.waits.fetch_sub(me);
    return nullptr;
  }
  // relaxed, all: statistics
  lock_record.site.store(site, std::memory_order_relaxed);
  lock_record.call.store(call, std::memory_order_relaxed);
  lock_record.arrivals.fetch_add(1, std::memory_order_relaxed);
  return &lock_record;
}

void leave(record* at, std::uint64_t now) noexcept {
  if (at != nullptr) at->waits.fetch_sub(one_waiter(now));
}

/// Attributes the time that threads have waited for the lock to the calling thread, which has given it up.
void take_blame(const void* lock) noexcept {
  record& lock_record = contended::record_of(lock);
  const std::uint64_t word = lock_record.waits.load();
  const std::uint64_t waited = waited_in(word, machine::cycles());
  // relaxed, here and below: statistics. The counters of two CPUs may differ a little, so time may seem to go back.
  std::uint64_t cycles = (waited - lock_record.blamed.exchange(waited, std::memory_order_relaxed)) & cycles_mask;
  if (cycles > cycles_mask / 2) cycles = 0;
  const std::uint32_t waits = lock_record.arrivals.exchange(0, std::memory_order_relaxed);
  const std::uint32_t site = lock_record.site.load(std::memory_order_relaxed);
  const lock_call call = lock_record.call.load(std::memory_order_relaxed);
  if (waiters_in(word) == 0) vacate(lock_record, lock);
  const observe::wait_sum sum = observe::held_up(site, waits, cycles, ns_per_chain.load(std::memory_order_relaxed));
  if (sum.ns != 0) write_chain(chain_kind::holds, call, site, sum);
}

void write_hold(std::uint32_t site, const void* lock, std::uint64_t since, std::uint64_t cycles) noexcept {
  write_event(event_kind::hold, site, lock, since, cycles);
}

}  // namespace

void watch_contention(const channel::head& file) noexcept {
  if (file.chains != 0) ns_per_chain.store(file.ns_per_chain, std::memory_order_relaxed);
  if (file.events == 0) return;
  writes_events.store(true, std::memory_order_relaxed);
  observe::watch_holds(write_hold);
}

void forget_contention() noexcept {
  for (record& lock_record : contended::records) {
    // relaxed, all: the process has one thread
    lock_record.lock.store(nullptr, std::memory_order_relaxed);
    lock_record.waits.store(0, std::memory_order_relaxed);
    lock_record.blamed.store(0, std::memory_order_relaxed);
  }
}

begun_wait begin_wait(std::uint32_t site, const void* lock, lock_call call) noexcept {
  begun_wait wait;
  if (site != 0 && takes_chains()) wait.at = arrive(site, lock, call);
  wait.since = observe::detail::wait_begins(site, lock);
  return wait;
}

void end_wait(std::uint32_t site, const void* lock, lock_call call, const begun_wait& wait) noexcept {
  const std::uint64_t now = machine::cycles();
  const std::uint64_t cycles = now - wait.since;
  owe({lock, site, call, observe::waited(site, lock, cycles, ns_per_chain.load(std::memory_order_relaxed))});
  leave(wait.at, now);
  if (writes_events.load(std::memory_order_relaxed)) write_event(event_kind::wait, site, lock, wait.since, cycles);
}

void fail_wait(std::uint32_t site, const void* lock, lock_call call, const begun_wait& wait) noexcept {
  const std::uint64_t now = machine::cycles();
  const std::uint64_t cycles = now - wait.since;
  const observe::wait_sum sum =
      observe::wait_timed_out(site, lock, cycles, ns_per_chain.load(std::memory_order_relaxed));
  leave(wait.at, now);
  if (sum.ns != 0) write_chain(chain_kind::waits, call, site, sum);
  if (writes_events.load(std::memory_order_relaxed))
    write_event(event_kind::failed_wait, site, lock, wait.since, cycles);
}

void forget_wait(const begun_wait& wait) noexcept { leave(wait.at, machine::cycles()); }

[[gnu::noinline]] void contended::released_slowly(const void* lock) noexcept {
  if (chains_owed != 0) pay(lock);
  if (record_of(lock).lock.load(std::memory_order_relaxed) == lock) take_blame(lock);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

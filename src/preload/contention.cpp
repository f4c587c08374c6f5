// SPDX-License-Identifier: Apache-2.0
#include "contention.hpp"

#include <utility>

#include <txsync/machine/cpu.hpp>
#include <txsync/observe/counters.hpp>

#include "observe/blocks.hpp"
#include "profile_writer.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

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
/// A thread that holds more locks for which it owes one takes none for the further ones: their waits are in no chain.
constexpr std::uint32_t max_owed = 4;
[[gnu::tls_model("initial-exec")]] constinit thread_local owed_chain owed[max_owed] = {};

void owe(const owed_chain& one) noexcept {
  if (one.sum.ns != 0 && chains_owed < max_owed) owed[chains_owed++] = one;
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

/// The guard of a record. Held for some instructions; a signal handler may have come in between, so nobody waits long.
class guarded {
 public:
  guarded(record& one, unsigned tries) noexcept : one_(one) {
    for (; tries != 0 && !has_; --tries) {
      // acquire pairs with the release below
      has_ = one_.guard.load(std::memory_order_relaxed) == 0 && one_.guard.exchange(1, std::memory_order_acquire) == 0;
      if (!has_) machine::relax();
    }
  }
  ~guarded() {
    if (has_) one_.guard.store(0, std::memory_order_release);  // pairs with the acquire above
  }
  guarded(const guarded&) = delete;
  guarded& operator=(const guarded&) = delete;
  explicit operator bool() const noexcept { return has_; }

 private:
  record& one_;
  bool has_ = false;
};
constexpr unsigned some_tries = 64;
constexpr unsigned many_tries = 1u << 20;  // else a wait counts on that has ended

void bring_up_to_now(record& one) noexcept {
  const std::uint64_t now = machine::cycles();
  // Counters of two CPUs may differ a little.
  if (now > one.since) one.waited_for += one.waiters * (now - one.since);
  one.since = now;
}

record* arrive(std::uint32_t site, const void* lock, lock_call call) noexcept {
  record& one = contended::record_of(lock);
  const guarded mine(one, some_tries);
  if (!mine) return nullptr;
  if (one.lock.load(std::memory_order_relaxed) != lock) {
    if (one.waiters != 0) return nullptr;
    one.waited_for = 0;
    one.arrivals = 0;
    one.lock.store(lock, std::memory_order_relaxed);
  }
  bring_up_to_now(one);
  one.site = site;
  one.call = call;
  ++one.waiters;
  ++one.arrivals;
  return &one;
}

void leave(record* at) noexcept {
  if (at == nullptr) return;
  const guarded mine(*at, many_tries);
  if (!mine) return;
  bring_up_to_now(*at);
  if (at->waiters != 0) --at->waiters;
}

/// The time that threads have waited for the lock, which the calling thread has given up.
void take_blame(const void* lock) noexcept {
  record& one = contended::record_of(lock);
  std::uint64_t cycles = 0;
  std::uint32_t waits = 0;
  std::uint32_t site = 0;
  lock_call call{};
  {
    const guarded mine(one, some_tries);
    if (!mine || one.lock.load(std::memory_order_relaxed) != lock) return;
    bring_up_to_now(one);
    cycles = std::exchange(one.waited_for, 0);
    waits = std::exchange(one.arrivals, 0);
    site = one.site;
    call = one.call;
    // Nobody waits any more: the next unlocks need not look.
    if (one.waiters == 0) one.lock.store(nullptr, std::memory_order_relaxed);
  }
  const observe::wait_sum sum = observe::held_up(site, waits, cycles, ns_per_chain.load(std::memory_order_relaxed));
  if (sum.ns != 0) write_chain(chain_kind::holds, call, site, sum);
}

void write_hold(std::uint32_t site, const void* lock, std::uint64_t since, std::uint64_t cycles) noexcept {
  write_event(event_kind::hold, site, lock, since, cycles);
}

}  // namespace

void watch_contention(const channel& file) noexcept {
  if (file.chains != 0) ns_per_chain.store(file.ns_per_chain, std::memory_order_relaxed);
  if (file.events == 0) return;
  writes_events.store(true, std::memory_order_relaxed);
  observe::watch_holds(write_hold);
}

void forget_contention() noexcept {
  for (record& one : contended::records) {
    one.waiters = 0;
    one.lock.store(nullptr, std::memory_order_relaxed);
    one.guard.store(0, std::memory_order_relaxed);  // relaxed, both: the process has one thread
  }
}

begun_wait begin_wait(std::uint32_t site, const void* lock, lock_call call) noexcept {
  begun_wait made;
  if (site != 0 && takes_chains()) made.at = arrive(site, lock, call);
  made.since = observe::detail::wait_begins(site);
  return made;
}

void end_wait(std::uint32_t site, const void* lock, lock_call call, const begun_wait& wait) noexcept {
  const std::uint64_t cycles = machine::cycles() - wait.since;
  owe({lock, site, call, observe::waited(site, cycles, ns_per_chain.load(std::memory_order_relaxed))});
  leave(wait.at);
  if (writes_events.load(std::memory_order_relaxed)) write_event(event_kind::wait, site, lock, wait.since, cycles);
}

void fail_wait(std::uint32_t site, const void* lock, lock_call call, const begun_wait& wait) noexcept {
  const std::uint64_t cycles = machine::cycles() - wait.since;
  const observe::wait_sum sum = observe::wait_timed_out(site, cycles, ns_per_chain.load(std::memory_order_relaxed));
  leave(wait.at);
  if (sum.ns != 0) write_chain(chain_kind::waits, call, site, sum);
  if (writes_events.load(std::memory_order_relaxed))
    write_event(event_kind::failed_wait, site, lock, wait.since, cycles);
}

void forget_wait(const begun_wait& wait) noexcept { leave(wait.at); }

[[gnu::noinline]] void contended::released_slowly(const void* lock) noexcept {
  if (chains_owed != 0) pay(lock);
  if (record_of(lock).lock.load(std::memory_order_relaxed) == lock) take_blame(lock);
}

}  // namespace txsync::inline TXSYNC_BACKEND::preload

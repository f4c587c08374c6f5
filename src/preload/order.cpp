// SPDX-License-Identifier: Apache-2.0
#include "order.hpp"

#include "sites.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

constinit std::atomic<bool> order_watched{false};

namespace {

constexpr unsigned most_held = 64;
struct held_lock {
  const void* lock;
  std::uint32_t site;
  std::uint32_t losses;  // losses_of() the lock, when it was taken
};
constinit thread_local held_lock held[most_held] = {};
constinit thread_local unsigned held_count = 0;  // may be more than are remembered

/// Pairs (held, taken) that have been seen, as a set of numbers; a full neighbourhood forgets the new pair.
constexpr std::size_t table_size = 1u << 16;
constexpr std::size_t neighbourhood = 16;
constinit std::atomic<std::uint64_t> pairs[table_size] = {};
/// Of each address how often a lock there was destroyed, so that pairs of the dead do not speak for the living.
constexpr std::size_t lives_size = 1u << 12;
constinit std::atomic<std::uint32_t> lives[lives_size] = {};
/// Likewise how often a lock there was given up by another thread than the one that took it: who took it holds it no
/// more, and has no part in that.
constinit std::atomic<std::uint32_t> losses[lives_size] = {};

std::uint64_t mix(std::uint64_t value) noexcept {
  value *= 0x9E3779B97F4A7C15u;
  return value ^ (value >> 31);
}

std::uint64_t identity(const void* lock) noexcept {
  const std::uint64_t address = mix(reinterpret_cast<std::uintptr_t>(lock));
  return address + lives[address % lives_size].load(std::memory_order_relaxed);  // relaxed: a number
}

std::atomic<std::uint32_t>& losses_of(const void* lock) noexcept {
  return losses[mix(reinterpret_cast<std::uintptr_t>(lock)) % lives_size];
}

std::uint64_t pair_of(std::uint64_t first, std::uint64_t second) noexcept { return (mix(first) + 3 * second) | 1; }

bool is_known(std::uint64_t pair) noexcept {
  for (std::size_t step = 0; step < neighbourhood; ++step) {
    // relaxed, here and below: a set of numbers, nothing else is read because of it
    const std::uint64_t seen = pairs[(pair + step) % table_size].load(std::memory_order_relaxed);
    if (seen == pair) return true;
    if (seen == 0) return false;
  }
  return false;
}

/// True when it was not known yet.
bool remember(std::uint64_t pair) noexcept {
  for (std::size_t step = 0; step < neighbourhood; ++step) {
    std::uint64_t seen = 0;
    if (pairs[(pair + step) % table_size].compare_exchange_strong(seen, pair, std::memory_order_relaxed)) return true;
    if (seen == pair) return false;
  }
  return false;
}

unsigned remembered() noexcept { return held_count < most_held ? held_count : most_held; }

void drop(unsigned index) noexcept {
  for (unsigned next = index + 1; next < remembered(); ++next) held[next - 1] = held[next];
  --held_count;
}

void drop_lost() noexcept {
  for (unsigned i = remembered(); i-- > 0;) {
    // relaxed, here and below: of a lock that the calling thread gets the lock itself orders it
    if (losses_of(held[i].lock).load(std::memory_order_relaxed) != held[i].losses) drop(i);
  }
}

}  // namespace

void acquired_in_order(const void* lock, std::uint32_t site, arrival how) noexcept {
  drop_lost();
  const std::uint64_t taken = identity(lock);
  for (unsigned i = 0; i < remembered() && how == arrival::waits; ++i) {
    if (held[i].lock == lock) continue;  // a recursive one
    const std::uint64_t before = identity(held[i].lock);
    if (remember(pair_of(before, taken)) && is_known(pair_of(taken, before)))
      tell(notice_kind::order_inversion, site, held[i].site);
  }
  if (held_count < most_held) held[held_count] = {lock, site, losses_of(lock).load(std::memory_order_relaxed)};
  ++held_count;
}

void released_in_order(const void* lock) noexcept {
  for (unsigned i = remembered(); i-- > 0;) {
    if (held[i].lock == lock) return drop(i);
  }
  if (held_count > most_held) {
    --held_count;  // one that is not remembered
  } else {
    losses_of(lock).fetch_add(1, std::memory_order_relaxed);
  }
}

void forget_in_order(const void* lock) noexcept {
  const std::uint64_t address = mix(reinterpret_cast<std::uintptr_t>(lock));
  lives[address % lives_size].fetch_add(1, std::memory_order_relaxed);  // relaxed: a number
}

}  // namespace txsync::inline TXSYNC_BACKEND::preload

// SPDX-License-Identifier: Apache-2.0
#include "order.hpp"

#include "identity.hpp"
#include "sites.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

constinit std::atomic<bool> order_watched{false};

namespace {

constexpr unsigned max_held = 64;
struct held_lock {
  const void* lock;
  std::uint32_t site;
  std::uint32_t losses;  // losses_of() the lock when it was taken
};
/// The locks that one thread holds. A thread has a list only while it holds a lock. A thread-local variable would take
/// a kilobyte of each stack, whether orders are watched or not.
struct held_list {
  std::atomic<bool> is_taken;
  unsigned count;  // may be more than are remembered
  held_lock locks[max_held];
  unsigned remembered() const noexcept { return count < max_held ? count : max_held; }
  void drop(unsigned index) noexcept {
    for (unsigned next = index + 1; next < remembered(); ++next) locks[next - 1] = locks[next];
    --count;
  }
};
constexpr std::uint32_t max_lists = 2048;
constinit held_list lists[max_lists] = {};
constinit thread_local held_list* my_list = nullptr;

/// Null: so many other threads hold locks that this thread's are not remembered.
held_list* list_of_caller() noexcept {
  if (my_list != nullptr) return my_list;
  constexpr std::uint32_t max_looks = 64;
  for (std::uint32_t look = 0; look < max_looks; ++look) {
    held_list& list = lists[(thread_number() + look) % max_lists];
    // acquire pairs with the release below
    if (list.is_taken.load(std::memory_order_relaxed) || list.is_taken.exchange(true, std::memory_order_acquire))
      continue;
    list.count = 0;
    return my_list = &list;
  }
  return nullptr;
}

void give_back() noexcept {
  held_list& list = *my_list;
  my_list = nullptr;
  list.is_taken.store(false, std::memory_order_release);  // pairs with the acquire above
}

/// Pairs (held, taken) that were seen, as a set of numbers. A full neighbourhood forgets the new pair.
constexpr std::size_t table_size = 1u << 16;
constexpr std::size_t neighbourhood = 16;
constinit std::atomic<std::uint64_t> pairs[table_size] = {};
/// For each address, how often a lock there was destroyed: pairs of destroyed locks must not count for later ones.
constexpr std::size_t lives_size = 1u << 12;
constinit std::atomic<std::uint32_t> lives[lives_size] = {};

/// Likewise, how often a thread gave up a lock there that another thread had taken. That other thread holds the lock no
/// more, and took no part in it.
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
    // relaxed, here and below: a set of numbers; nothing else is read because of it
    const std::uint64_t kept = pairs[(pair + step) % table_size].load(std::memory_order_relaxed);
    if (kept == pair) return true;
    if (kept == 0) return false;
  }
  return false;
}

/// True if it was not known yet.
bool remember(std::uint64_t pair) noexcept {
  for (std::size_t step = 0; step < neighbourhood; ++step) {
    std::uint64_t expected = 0;
    if (pairs[(pair + step) % table_size].compare_exchange_strong(expected, pair, std::memory_order_relaxed))
      return true;
    if (expected == pair) return false;
  }
  return false;
}

void drop_lost(held_list& held) noexcept {
  for (unsigned i = held.remembered(); i-- > 0;) {
    // relaxed, here and below: for a lock that the calling thread gets, the lock itself orders it
    if (losses_of(held.locks[i].lock).load(std::memory_order_relaxed) != held.locks[i].losses) held.drop(i);
  }
}

/// False: the lock is not the calling thread's, as far as that is remembered.
bool give_up(const void* lock) noexcept {
  if (my_list == nullptr) return false;
  held_list& held = *my_list;
  unsigned behind = held.remembered();  // the last one
  while (behind > 0 && held.locks[behind - 1].lock != lock) --behind;
  if (behind > 0) {
    held.drop(behind - 1);
  } else if (held.count > max_held) {
    --held.count;  // a lock that is not remembered
  } else {
    return false;
  }
  if (held.count == 0) give_back();
  return true;
}

}  // namespace

void acquired_in_order(const void* lock, std::uint32_t site, acquire_kind kind) noexcept {
  const std::uint64_t taken = identity(lock);
  held_list* const held = list_of_caller();
  if (held == nullptr) return;
  drop_lost(*held);
  for (unsigned i = 0; i < held->remembered() && kind == acquire_kind::waits; ++i) {
    if (held->locks[i].lock == lock) continue;  // a recursive lock
    const std::uint64_t before = identity(held->locks[i].lock);
    if (remember(pair_of(before, taken)) && is_known(pair_of(taken, before)))
      report(diagnostic_kind::order_inversion, site, held->locks[i].site);
  }
  if (held->count < max_held) held->locks[held->count] = {lock, site, losses_of(lock).load(std::memory_order_relaxed)};
  ++held->count;
}

void released_in_order(const void* lock) noexcept {
  if (!give_up(lock)) losses_of(lock).fetch_add(1, std::memory_order_relaxed);
}

void forget_in_order(const void* lock) noexcept {
  const std::uint64_t address = mix(reinterpret_cast<std::uintptr_t>(lock));
  lives[address % lives_size].fetch_add(1, std::memory_order_relaxed);  // relaxed: a number
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

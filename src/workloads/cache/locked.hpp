// SPDX-License-Identifier: Apache-2.0
// A cache under locks. There are memcached 1.4.5's two global ones: cache_lock for table, order of use and memory, and
// stats_lock for statistics, taken within it. Or there are stripes, each a cache of its own with two locks.
#pragma once

#include <deque>

#include "workloads/cache/store.hpp"
#include "workloads/harness/adapters.hpp"
#include "workloads/harness/pages.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads::cache {

/// What one thread brings to the locks of an adapter.
template <class Adapter>
struct lock_slots {
  typename Adapter::slot cache{};
  typename Adapter::slot stats{};
};

template <class Adapter>
class locked {
 public:
  /// One stripe is the cache under two global locks. `shapes` has one element per stripe.
  template <class Shapes>
  explicit locked(const Shapes& shapes) {
    for (const store_shape& shape : shapes) stripes_.emplace_back(shape);
  }
  bool ok() const noexcept {
    for (const stripe& one : stripes_) {
      if (!one.data.ok()) return false;
    }
    return true;
  }

  std::uint32_t stripes() const noexcept { return static_cast<std::uint32_t>(stripes_.size()); }
  static std::uint32_t stripe_of(const item_key& key, std::uint32_t stripes) noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{key.other_hash()} * stripes) >> 32);
  }

  /// Runs a request for a key. A release needs the key of its item, too.
  void run(lock_slots<Adapter>& mine, const item_key& key, request& asked) {
    run_in(mine, stripes_[stripe_of(key, stripes())], asked);
  }
  void flush(lock_slots<Adapter>& mine, request& asked) {
    for (stripe& one : stripes_) run_in(mine, one, asked);
  }

  statistics told(lock_slots<Adapter>& mine) {
    statistics sum;
    for (stripe& one : stripes_) {
      one.stats_lock.lock(mine.stats);
      sum.add(one.stats);
      one.stats_lock.unlock(mine.stats);
    }
    return sum;
  }

  // After all threads have ended:
  const char* complaint() const noexcept {
    for (const stripe& one : stripes_) {
      if (const char* const wrong = one.data.complaint(one.stats)) return wrong;
    }
    return nullptr;
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (const stripe& one : stripes_) one.data.for_each(visit);
  }

 private:
  struct stripe {
    explicit stripe(const store_shape& shape) : data(shape) {}
    alignas(machine::pad_bytes) Adapter cache_lock{};
    alignas(machine::pad_bytes) Adapter stats_lock{};
    alignas(machine::pad_bytes) store data;
    alignas(machine::pad_bytes) statistics stats;
  };

  void run_in(lock_slots<Adapter>& mine, stripe& at, request& asked) {
    lock_warming(at.cache_lock, mine.cache, [&](auto& ahead) { at.data.apply(ahead, asked); });
    section_memory memory;
    at.data.apply(memory, asked);
    if (at.data.has_news()) {
      at.stats_lock.lock(mine.stats);
      at.stats.add(at.data.take_news());
      at.stats_lock.unlock(mine.stats);
    }
    at.cache_lock.unlock(mine.cache);
  }

  std::deque<stripe> stripes_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads::cache

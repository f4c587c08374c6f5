// SPDX-License-Identifier: Apache-2.0
// The data of a cache, without locks: a table of chains, the order of use, memory for items. It is what memcached 1.4.5
// has under its cache_lock, but with the final number of buckets from the start.
#pragma once

#include <cstdint>

#include <txsync/speculate/warm_up.hpp>

#include "workloads/cache/request.hpp"
#include "workloads/cache/slabs.hpp"
#include "workloads/harness/pages.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads::cache {

struct store_shape {
  std::size_t bytes = 0;      ///< for items
  std::uint64_t buckets = 1;  ///< at least this many; rounded up to a power of two
  bool first_runs = false;    ///< see slabs
};

/// Requires: one caller at a time, except after all threads have ended.
class store {
 public:
  explicit store(const store_shape& shape) noexcept;
  bool ok() const noexcept { return buckets_.ok() && slabs_.ok(); }

  /// The body of a critical section, over section_memory or warm_memory. A waiter with warm_memory only warms up; then
  /// the answer in the request has no meaning.
  template <class Memory>
  void apply(Memory& memory, request& asked) noexcept;

  /// What the statistics have not been told yet. take_news() also resets it.
  bool has_news() const noexcept { return has_news_; }
  statistics take_news() noexcept;

  // After all threads have ended:
  /// Null, or what is wrong: links, order of use, references without users, lost items.
  const char* complaint(const statistics& said) const noexcept;
  /// Calls visit for each item in the table, in a fixed order. Requires: complaint() returned null.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      for (const item* one = buckets_[i].first; one != nullptr; one = one->next) visit(*one);
    }
  }
  /// For tests, which use it to damage the table.
  item*& bucket_of(std::uint32_t hash) noexcept { return buckets_[hash & (buckets_.size() - 1)].first; }

 private:
  // In store_walk.hpp: the parts of critical sections.
  template <class Memory>
  bool same_key(Memory& memory, const item& one, const item_key& key) const noexcept;
  template <class Memory>
  item** find_link(Memory& memory, const item_key& key) noexcept;
  template <class Memory>
  item* find_live(Memory& memory, const item_key& key, std::uint32_t now, item**& link) noexcept;
  template <class Memory>
  bool is_over(Memory& memory, const item& one, std::uint32_t now) const noexcept;
  template <class Memory>
  void flush_if_due(Memory& memory, std::uint32_t now) noexcept;
  template <class Memory>
  void link(Memory& memory, item* one, std::uint32_t now) noexcept;
  template <class Memory>
  void unlink(Memory& memory, item** link) noexcept;
  template <class Memory>
  void to_front(Memory& memory, item* one) noexcept;
  template <class Memory>
  void out_of_order(Memory& memory, item* one) noexcept;
  template <class Memory>
  void move_if_old(Memory& memory, item* one, std::uint32_t now) noexcept;
  template <class Memory>
  void drop(Memory& memory, item* one) noexcept;
  template <class Memory>
  bool evict(Memory& memory, unsigned size_class, std::uint32_t now) noexcept;
  template <class Memory>
  item* make(Memory& memory, const item_key& key, const request& like, std::size_t value_bytes, answer& why) noexcept;
  template <class Memory>
  static char* value_of(Memory& memory, item* one) noexcept;
  template <class Memory>
  static std::size_t bytes_of(Memory& memory, const item* one) noexcept;
  template <class Memory>
  void report(Memory& memory, const statistics& more) noexcept;

  template <class Memory>
  void get(Memory& memory, request& asked) noexcept;
  template <class Memory>
  answer put(Memory& memory, const request& asked) noexcept;
  template <class Memory>
  answer join(Memory& memory, const request& asked) noexcept;
  template <class Memory>
  answer count(Memory& memory, request& asked) noexcept;
  template <class Memory>
  answer remove(Memory& memory, const request& asked) noexcept;
  template <class Memory>
  answer touch(Memory& memory, const request& asked) noexcept;

  const char* chains_wrong(std::uint64_t items) const noexcept;
  const char* order_wrong(std::uint64_t items) const noexcept;

  struct bucket {
    item* first = nullptr;
  };
  // Read by all threads and seldom written; kept apart from what is written all the time.
  page_array<bucket> buckets_;
  std::uint64_t over_before_ = 0;  ///< items with a smaller cas have been flushed
  std::uint32_t flush_at_ = 0;     ///< 0: no flush is ordered
  alignas(machine::pad_bytes) slabs slabs_;
  struct use_order {
    item* newest = nullptr;
    item* oldest = nullptr;
  };
  use_order orders_[slabs::max_classes];  ///< one per size class
  std::uint64_t next_cas_ = 1;
  bool has_news_ = false;
  statistics news_;
};

extern template void store::apply(section_memory& memory, request& asked) noexcept;
extern template void store::apply(warm_memory& memory, request& asked) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads::cache

// SPDX-License-Identifier: Apache-2.0
// The data of a cache, without locks: a table of chains, the order of use, memory for items. As memcached 1.4.5 has it
// under its cache_lock, but with as many buckets from the start as it will ever need.
#pragma once

#include <cstdint>

#include <txsync/speculate/warm_up.hpp>

#include "workloads/cache/request.hpp"
#include "workloads/cache/slabs.hpp"
#include "workloads/pages.hpp"

namespace txsync::inline TXSYNC_BACKEND::workloads::cache {

struct store_shape {
  std::size_t bytes = 0;      ///< of items
  std::uint64_t buckets = 1;  ///< at least; a power of two is taken
  bool first_runs = false;    ///< see slabs
};

/// Requires: one caller at a time, but for what stands behind "After all threads".
class store {
 public:
  explicit store(const store_shape& shape) noexcept;
  bool ok() const noexcept { return buckets_.ok() && slabs_.ok(); }

  /// The body of a section, over section_memory or warm_memory: by a waiter it only looks ahead, and what the request
  /// answers then says nothing.
  template <class Memory>
  void apply(Memory& memory, request& asked) noexcept;

  /// What statistics have not yet been told, and forget it.
  bool has_news() const noexcept { return has_news_; }
  statistics take_news() noexcept;

  // After all threads have ended:
  /// Null, or what is wrong: links, order of use, users that are none, items that are lost.
  const char* complaint(const statistics& said) const noexcept;
  /// Each item in the table, in a fixed order. Requires: complaint() has none.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      for (const item* one = buckets_[i].first; one != nullptr; one = one->next) visit(*one);
    }
  }
  /// For tests, which break it.
  item*& bucket_of(std::uint32_t hash) noexcept { return buckets_[hash & (buckets_.size() - 1)].first; }

 private:
  // Of store_walk.hpp: what a section is made of.
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
  void tell(Memory& memory, const statistics& more) noexcept;

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
  // What all read and hardly anybody writes, apart from what is written all the time.
  page_array<bucket> buckets_;
  std::uint64_t over_before_ = 0;  ///< items whose cas is below it have been flushed
  std::uint32_t flush_at_ = 0;     ///< 0: not ordered
  alignas(machine::pad_bytes) slabs slabs_;
  struct use_order {
    item* newest = nullptr;
    item* oldest = nullptr;
  };
  use_order orders_[slabs::most_classes];  ///< one a size class
  std::uint64_t next_cas_ = 1;
  bool has_news_ = false;
  statistics news_;
};

extern template void store::apply(section_memory& memory, request& asked) noexcept;
extern template void store::apply(warm_memory& memory, request& asked) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::workloads::cache

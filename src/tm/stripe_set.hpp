// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>

#include <txsync/machine/assert.hpp>
#include <txsync/tm/detail/engine.hpp>
#include <txsync/tm/detail/growing_log.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

/// Stripes of memory, as the buckets that a hash of their addresses gives. Two sets may have a common bucket, although
/// they have no common stripe. The set keeps its memory when it is cleared. If there is none, or there are too many
/// stripes, it is the set of all.
class stripe_set {
 public:
  static constexpr std::uint64_t bucket_count = 1u << 16;
  static constexpr std::size_t usual_max_buckets = 4'096;
  /// How many a set keeps. Explorations change it, before their threads start: they read few stripes.
  static inline constinit std::size_t max_buckets = usual_max_buckets;

  static std::uint32_t bucket_of(std::uint64_t index) noexcept {
    return static_cast<std::uint32_t>(index % bucket_count);
  }

  void clear() noexcept {
    buckets_.clear();
    has_all_ = false;
  }
  void add_all() noexcept {
    buckets_.clear();
    has_all_ = true;
  }
  void add(const word& cell) noexcept { add_index(engine::index_of(cell)); }
  /// The same for a stripe's orec, by its index in the table.
  void add_index(std::uint64_t index) noexcept {
    const std::uint32_t bucket = bucket_of(index);
    if (has_all_ || (!buckets_.empty() && *(buckets_.end() - 1) == bucket)) return;
    if (buckets_.size() == max_buckets) return add_all();
    try {
      buckets_.append(bucket);
    } catch (const std::bad_alloc&) {
      add_all();
    }
  }
  /// For has(): each bucket once, in order.
  void sort() noexcept {
    std::sort(buckets_.begin(), buckets_.end());
    buckets_.truncate(static_cast<std::size_t>(std::unique(buckets_.begin(), buckets_.end()) - buckets_.begin()));
  }

  bool has_all() const noexcept { return has_all_; }
  bool empty() const noexcept { return !has_all_ && buckets_.empty(); }
  /// Requires: sort() was called.
  bool has(std::uint32_t bucket) const noexcept {
    TXSYNC_ASSERT(std::is_sorted(buckets_.begin(), buckets_.end()), "the set was sorted");
    return has_all_ || std::binary_search(buckets_.begin(), buckets_.end(), bucket);
  }
  // The buckets; none if it has all.
  const std::uint32_t* begin() const noexcept { return buckets_.begin(); }
  const std::uint32_t* end() const noexcept { return buckets_.end(); }

 private:
  growing_log<std::uint32_t> buckets_;
  bool has_all_ = false;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail

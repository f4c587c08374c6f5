// SPDX-License-Identifier: Apache-2.0
#include "workloads/cache/store.hpp"

#include <bit>

#include "workloads/cache/store_walk.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads::cache {

template void store::apply(section_memory& memory, request& asked) noexcept;
template void store::apply(warm_memory& memory, request& asked) noexcept;

store::store(const store_shape& shape) noexcept
    : buckets_(std::bit_ceil(shape.buckets)), slabs_(shape.bytes, shape.first_runs) {}

statistics store::take_news() noexcept {
  const statistics news = news_;
  news_ = {};
  has_news_ = false;
  return news;
}

const char* store::complaint(const statistics& said) const noexcept {
  if (has_news_) return "the statistics of the cache have not been told all";
  if (const char* const wrong = chains_wrong(said.items)) return wrong;
  if (const char* const wrong = order_wrong(said.items)) return wrong;
  std::uint64_t bytes = 0;
  for_each([&](const item& one) { bytes += one.bytes(); });
  if (bytes != said.bytes) return "the bytes of the cache's statistics are not those of its items";
  if (slabs_.free_items(slabs_.carved()) + said.items != slabs_.carved()) {
    return "an item of the cache is neither in the table nor free, or both";
  }
  return nullptr;
}

const char* store::chains_wrong(std::uint64_t items) const noexcept {
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    for (const item* one = buckets_[i].first; one != nullptr; one = one->next) {
      if (++seen > items) return "the cache's table has more items than its statistics say, or links in a circle";
      if ((one->hash & (buckets_.size() - 1)) != i) return "an item of the cache is in another bucket than its own";
      if (!one->linked()) return "the cache's table has an item that is marked as taken out";
      if (one->references != 0) return "an item of the cache has users after the end of all threads";
    }
  }
  return seen == items ? nullptr : "the cache's table has fewer items than its statistics say";
}

const char* store::order_wrong(std::uint64_t items) const noexcept {
  std::uint64_t seen = 0;
  for (unsigned i = 0; i < slabs::max_classes; ++i) {
    const item* newer = nullptr;
    for (const item* one = orders_[i].newest; one != nullptr; newer = one, one = one->older) {
      if (++seen > items) return "the order of use has more items than the cache's table, or links in a circle";
      if (one->newer != newer) return "an item in the order of use does not point to the one before it";
      if (!one->linked() || one->size_class() != i) return "an item is in an order of use where it does not belong";
    }
    if (orders_[i].oldest != newer) return "the order of use does not end with its oldest item";
  }
  return seen == items ? nullptr : "the order of use has fewer items than the cache's table";
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads::cache

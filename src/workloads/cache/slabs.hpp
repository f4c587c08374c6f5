// SPDX-License-Identifier: Apache-2.0
// Memory for items, like memcached's slabs. There are size classes, each a quarter larger than the one before. A class
// keeps what it has taken.
#pragma once

#include <cstddef>
#include <cstdint>

#include "workloads/cache/item.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads::cache {

/// Requires for all functions except the constructor: the caller has the cache's lock.
class slabs {
 public:
  static constexpr unsigned max_classes = 40;

  /// Takes items from `limit` bytes. With `first_runs`, each class may take the memory of some items beyond that. So no
  /// class starves because others came first.
  slabs(std::size_t limit, bool first_runs) noexcept;
  slabs(const slabs&) = delete;
  slabs& operator=(const slabs&) = delete;
  ~slabs();
  bool ok() const noexcept { return memory_ != nullptr; }

  /// The class for an item of `bytes` bytes; max_classes if it is too large for all.
  static unsigned class_of(std::size_t bytes) noexcept;
  static std::size_t size_of(unsigned size_class) noexcept;

  /// An item with undefined content, or null if the class has no more.
  template <class Memory>
  item* take(Memory& memory, unsigned size_class) noexcept;
  template <class Memory>
  void give(Memory& memory, item* one) noexcept;

  // After all threads have ended:
  std::uint64_t carved() const noexcept;  ///< items that were taken at least once
  /// The number of free items; counts up to `most` + 1, because a wrong list may be circular.
  std::uint64_t free_items(std::uint64_t most) const noexcept;

 private:
  struct size_list {
    item* free = nullptr;    ///< items that were given back
    char* fresh = nullptr;   ///< memory not yet used, from here...
    char* end = nullptr;     ///< ...to here
    std::uint64_t runs = 0;  ///< runs of fresh items so far
  };

  template <class Memory>
  bool extend(Memory& memory, unsigned size_class) noexcept;

  std::size_t limit_;
  bool first_runs_;
  std::size_t bytes_;  ///< size of memory_
  char* memory_;
  std::size_t taken_ = 0;  ///< bytes of memory_ that classes have taken
  std::uint64_t carved_ = 0;
  size_list lists_[max_classes];
};

template <class Memory>
item* slabs::take(Memory& memory, unsigned size_class) noexcept {
  size_list& list = lists_[size_class];
  if (item* const one = memory.load(list.free)) {
    memory.store(list.free, memory.load(one->next));
    return one;
  }
  char* fresh = memory.load(list.fresh);
  if (fresh == memory.load(list.end)) {
    if (!extend(memory, size_class)) return nullptr;
    fresh = memory.load(list.fresh);
  }
  if (Memory::speculative && fresh == nullptr) return nullptr;
  memory.store(list.fresh, fresh + size_of(size_class));
  memory.store(carved_, memory.load(carved_) + 1);
  return reinterpret_cast<item*>(fresh);
}

template <class Memory>
void slabs::give(Memory& memory, item* one) noexcept {
  item*& first = lists_[memory.load(one->place) & ~item::linked_bit].free;
  memory.store(one->next, memory.load(first));
  memory.store(first, one);
}

template <class Memory>
bool slabs::extend(Memory& memory, unsigned size_class) noexcept {
  if constexpr (Memory::speculative) {
    return false;  // nothing useful would follow
  } else {
    constexpr std::size_t usual_run = std::size_t{64} << 10;
    size_list& list = lists_[size_class];
    const std::size_t size = size_of(size_class);
    std::size_t run = usual_run > size ? usual_run / size * size : size;
    const std::uint64_t runs = memory.load(list.runs);
    const std::size_t taken = memory.load(taken_);
    if (!first_runs_ || runs != 0) {
      const std::size_t left = taken < limit_ ? (limit_ - taken) / size * size : 0;
      if (left < run) run = left;
    }
    if (run == 0) return false;
    memory.store(list.runs, runs + 1);
    memory.store(list.fresh, memory_ + taken);
    memory.store(list.end, memory_ + taken + run);
    memory.store(taken_, taken + run);
    return true;
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads::cache

// SPDX-License-Identifier: Apache-2.0
// hashmap: a hash map of fixed size, whose buckets have lists of items, under a lock per bucket or one for all. Source:
// thesis on TSX in InnoDB, 3.3.4.
#pragma once

#include "workloads/generators/value_set.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

class value_map final : public value_set {
 public:
  value_map(const parameters& values, const plan& how);
  ~value_map() override { give_all(); }
  bool ok() const noexcept { return filled_; }

  std::uint64_t locks() const noexcept override { return one_lock_ ? 1 : buckets_.size(); }
  std::uint64_t lock_of(std::uint32_t value) const noexcept override { return one_lock_ ? 0 : bucket_of(value); }
  bool find(std::uint32_t value) const noexcept override;
  bool insert(item* fresh) noexcept override;
  item* remove(std::uint32_t value) noexcept override;
  void foretell(std::uint32_t value, bool changes, warm_memory& memory) noexcept override;

  std::uint64_t bucket_of(std::uint32_t value) const noexcept { return value % buckets_.size(); }
  item*& head(std::uint64_t bucket) noexcept { return buckets_[bucket].object; }

 private:
  unsigned chains() const noexcept override { return static_cast<unsigned>(buckets_.size()); }
  item* first_of(unsigned chain) const noexcept override { return buckets_[chain].object; }
  const char* wrong_at(unsigned chain, const item* before, const item& one) const noexcept override;
  const char* wrong_at_end(const item*) const noexcept override { return nullptr; }
  /// The link to the item with that value, or to where it would be inserted.
  template <class Memory>
  item** link_to(std::uint32_t value, Memory& memory) noexcept;

  bool one_lock_;
  page_array<line_of<item*>> buckets_;
  bool filled_ = false;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

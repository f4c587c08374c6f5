// SPDX-License-Identifier: Apache-2.0
// list: a doubly linked list under one lock (thesis on TSX in InnoDB, 3.3.3).
#pragma once

#include "workloads/generators/value_set.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

class value_list final : public value_set {
 public:
  value_list(const parameters& values, const plan& how);
  ~value_list() override { give_all(); }
  bool ok() const noexcept { return filled_; }

  std::uint64_t locks() const noexcept override { return 1; }
  std::uint64_t lock_of(std::uint32_t) const noexcept override { return 0; }
  bool find(std::uint32_t value) const noexcept override { return item_of(value) != nullptr; }
  bool insert(item* fresh) noexcept override;
  item* remove(std::uint32_t value) noexcept override;

  item* first() const noexcept { return first_.object; }
  item* last() const noexcept { return last_.object; }

 private:
  item* item_of(std::uint32_t value) const noexcept;
  unsigned chains() const noexcept override { return 1; }
  item* first_of(unsigned) const noexcept override { return first(); }
  const char* wrong_at(unsigned chain, const item* before, const item& one) const noexcept override;
  const char* wrong_at_end(const item* last) const noexcept override;

  // On separate lines, because an insertion writes one of them and every search reads the other.
  line_of<item*> first_;
  line_of<item*> last_;
  bool filled_ = false;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include <txsync/machine/assert.hpp>
#include <txsync/tm/detail/entries.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm {

/// A doubly linked list for atomic blocks. It is for elements that are removed from the middle (an LRU list, for
/// example).
///
/// Every operation is part of the block whose transaction it is given. Operations that add elements throw
/// std::bad_alloc if there is no memory; that block is then undone. Blocks conflict at neighbouring elements, and at
/// the ends.
/// Cost: O(1), except for size() and clear(), which walk. To add or erase an element writes to both of its neighbours.
/// Requires: T is trivially copyable and has a default. The destructor runs while no block uses the list.
/// Thread-safe in blocks. 16 bytes; an element is its value and 16 bytes, and what an allocation costs.
template <class T>
  requires detail::container_value<T>
class linked_list {
  using node = detail::value_node<T>;

 public:
  /// An element of the list, until some block erases it. It may be kept from block to block, also in a var. Null: no
  /// element.
  class place {
   public:
    constexpr place() noexcept = default;
    bool operator==(const place&) const noexcept = default;
    explicit operator bool() const noexcept { return at_ != nullptr; }

   private:
    friend linked_list;
    explicit place(node* at) noexcept : at_(at) {}
    node* at_ = nullptr;
  };

  linked_list() noexcept = default;
  linked_list(const linked_list&) = delete;
  linked_list& operator=(const linked_list&) = delete;
  ~linked_list() { detail::destroy_unshared_chain(first_.load()); }

  template <class Tx>
  place push_front(Tx& tx, const T& value) {
    return put(tx, nullptr, value, tx.read(first_));
  }
  template <class Tx>
  place push_back(Tx& tx, const T& value) {
    return put(tx, tx.read(last_), value, nullptr);
  }
  /// Inserts before that element, or at the end if that is null.
  template <class Tx>
  place insert(Tx& tx, place before, const T& value) {
    if (!before) return push_back(tx, value);
    return put(tx, tx.read(before.at_->before), value, before.at_);
  }
  /// Requires: `where` is an element of this list.
  template <class Tx>
  void erase(Tx& tx, place where) {
    TXSYNC_ASSERT_VALUE(where.at_ != nullptr, "what is erased is an element of the list");
    unlink(tx, where.at_);
    tx.destroy(where.at_);
  }
  /// Makes the element the first one; `where` still denotes it. Requires: `where` is an element of this list.
  template <class Tx>
  void move_to_front(Tx& tx, place where) {
    TXSYNC_ASSERT_VALUE(where.at_ != nullptr, "what is moved is an element of the list");
    if (tx.read(first_) == where.at_) return;
    unlink(tx, where.at_);
    link(tx, nullptr, where.at_, tx.read(first_));
  }
  /// Returns nothing if the list is empty.
  template <class Tx>
  std::optional<T> pop_front(Tx& tx) {
    return pop(tx, tx.read(first_));
  }
  template <class Tx>
  std::optional<T> pop_back(Tx& tx) {
    return pop(tx, tx.read(last_));
  }
  template <class Tx>
  void clear(Tx& tx) {
    for (node* at = tx.read(first_); at != nullptr; at = tx.read(at->next)) tx.destroy(at);
    tx.write(first_, nullptr);
    tx.write(last_, nullptr);
  }

  template <class Tx>
  T get(Tx& tx, place where) const {
    return tx.read(where.at_->value);
  }
  template <class Tx>
  void set(Tx& tx, place where, const T& value) {
    tx.write(where.at_->value, value);
  }
  /// These return null if the list is empty, or if there is no further element.
  template <class Tx>
  place front(Tx& tx) const {
    return place(tx.read(first_));
  }
  template <class Tx>
  place back(Tx& tx) const {
    return place(tx.read(last_));
  }
  template <class Tx>
  place next(Tx& tx, place where) const {
    return place(tx.read(where.at_->next));
  }
  template <class Tx>
  place previous(Tx& tx, place where) const {
    return place(tx.read(where.at_->before));
  }

  /// O(n).
  template <class Tx>
  std::size_t size(Tx& tx) const {
    std::size_t count = 0;
    for (const node* at = tx.read(first_); at != nullptr; at = tx.read(at->next)) ++count;
    return count;
  }
  template <class Tx>
  bool empty(Tx& tx) const {
    return tx.read(first_) == nullptr;
  }
  /// for (const T value : list.all(tx)). Within the body; an iterator is valid until its element is erased.
  template <class Tx>
  auto all(Tx& tx) const {
    using iterator = detail::chain_iterator<node, Tx>;
    return detail::entries<iterator>(iterator(tx, tx.read(first_)));
  }
  template <class Tx, class Visit>
  void for_each(Tx& tx, Visit&& visit) const {
    for (const T value : all(tx)) visit(value);
  }

 private:
  template <class Tx>
  void link(Tx& tx, node* before, node* one, node* next) {
    tx.write(one->before, before);
    tx.write(one->next, next);
    tx.write(before != nullptr ? before->next : first_, one);
    tx.write(next != nullptr ? next->before : last_, one);
  }
  template <class Tx>
  void unlink(Tx& tx, node* one) {
    node* const before = tx.read(one->before);
    node* const next = tx.read(one->next);
    tx.write(before != nullptr ? before->next : first_, next);
    tx.write(next != nullptr ? next->before : last_, before);
  }
  template <class Tx>
  place put(Tx& tx, node* before, const T& value, node* next) {
    node* const fresh = tx.template make<node>(value);
    link(tx, before, fresh, next);
    return place(fresh);
  }
  template <class Tx>
  std::optional<T> pop(Tx& tx, node* one) {
    if (one == nullptr) return std::nullopt;
    const T value = tx.read(one->value);
    erase(tx, place(one));
    return value;
  }

  var<node*> first_{nullptr};
  var<node*> last_{nullptr};
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm

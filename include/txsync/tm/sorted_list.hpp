// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include <txsync/tm/detail/entries.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm {

/// A map for atomic blocks that is kept as one sorted, singly linked list.
///
/// Every operation is part of the block whose transaction it is given. It throws std::bad_alloc if there is no memory;
/// that block is then undone. A block that changes an entry conflicts with all blocks that have walked past it.
/// Use it for: some dozens of entries. Do not use it for: more (ordered_map, hash_map).
/// Cost: O(n), except for empty(); find, insert, assign and erase visit half of the nodes on average.
/// Requires: Value is trivially copyable and has a default. Key can be copied and never changes (it may be a string).
/// Less is stateless, and does not throw. The destructor runs while no block uses the list.
/// Thread-safe in blocks. 8 bytes; a node is the key, the value and 8 bytes, and what an allocation costs.
template <class Key, class Value, class Less = std::less<Key>>
  requires detail::container_value<Value>
class sorted_list {
  using node = detail::map_node<Key, Value>;

 public:
  sorted_list() noexcept = default;
  sorted_list(const sorted_list&) = delete;
  sorted_list& operator=(const sorted_list&) = delete;
  ~sorted_list() { detail::destroy_unshared_chain(first_.load()); }

  template <class Tx>
  std::optional<Value> find(Tx& tx, const Key& key) const {
    const var<Value>* const place = place_of(tx, key);
    return place != nullptr ? std::optional<Value>(tx.read(*place)) : std::nullopt;
  }
  template <class Tx>
  bool contains(Tx& tx, const Key& key) const {
    return place_of(tx, key) != nullptr;
  }
  /// The var of the key's value, which this block may read and write until it erases the key; null if there is none.
  template <class Tx>
  var<Value>* place_of(Tx& tx, const Key& key) const {
    node* const at = lower_bound(tx, first_, key).at;
    return is(at, key) ? &at->value : nullptr;
  }

  /// False if the key is there already; then nothing has changed.
  template <class Tx>
  bool insert(Tx& tx, const Key& key, const Value& value) {
    return put(tx, key, value, false);
  }
  /// Gives the key that value. True: the key was not there before.
  template <class Tx>
  bool assign(Tx& tx, const Key& key, const Value& value) {
    return put(tx, key, value, true);
  }
  /// False: the key is not there.
  template <class Tx>
  bool erase(Tx& tx, const Key& key) {
    const auto where = lower_bound(tx, first_, key);
    if (!is(where.at, key)) return false;
    tx.write(*where.link, tx.read(where.at->next));
    tx.destroy(where.at);
    return true;
  }
  template <class Tx>
  void clear(Tx& tx) {
    for (node* at = tx.read(first_); at != nullptr; at = tx.read(at->next)) tx.destroy(at);
    tx.write(first_, nullptr);
  }

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

  /// for (const auto& [key, value] : list.all(tx)): in the order of the keys. Within the body; an iterator is valid
  /// until its entry is erased.
  template <class Tx>
  auto all(Tx& tx) const {
    return from_node(tx, tx.read(first_));
  }
  /// The same, beginning at the first key that is not less than `key`.
  template <class Tx>
  auto all_from(Tx& tx, const Key& key) const {
    return from_node(tx, lower_bound(tx, first_, key).at);
  }
  /// Calls visit(key, value) for all entries.
  template <class Tx, class Visit>
  void for_each(Tx& tx, Visit&& visit) const {
    for (const auto& [key, value] : all(tx)) visit(key, value);
  }

 private:
  template <class Link>
  struct position {
    Link* link;
    node* at;
  };
  static bool is(const node* at, const Key& key) { return at != nullptr && !Less()(key, at->key); }

  template <class Tx>
  static auto from_node(Tx& tx, node* first) {
    using iterator = detail::chain_iterator<node, Tx>;
    return detail::entries<iterator>(iterator(tx, first));
  }
  /// The first node whose key is not less. Link is const if the list is.
  template <class Tx, class Link>
  static position<Link> lower_bound(Tx& tx, Link& first, const Key& key) {
    position<Link> where{&first, tx.read(first)};
    while (where.at != nullptr && Less()(where.at->key, key)) where = {&where.at->next, tx.read(where.at->next)};
    return where;
  }
  template <class Tx>
  bool put(Tx& tx, const Key& key, const Value& value, bool replaces) {
    const auto where = lower_bound(tx, first_, key);
    if (is(where.at, key)) {
      if (replaces) tx.write(where.at->value, value);
      return false;
    }
    tx.write(*where.link, tx.template make<node>(key, value, where.at));
    return true;
  }

  var<node*> first_{nullptr};
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm

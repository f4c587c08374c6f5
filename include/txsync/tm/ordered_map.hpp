// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>

#include <txsync/tm/detail/entries.hpp>
#include <txsync/tm/detail/red_black.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm {

/// A map for atomic blocks, in the order of its keys: a red-black tree.
///
/// Every operation is part of the block whose transaction it is given. It throws std::bad_alloc if there is no memory;
/// that block is then undone.
/// Why this tree: reads are what a transaction pays for. A walk down this tree reads one word per level, on about
/// log2(n) levels; a skip list reads twice as many. Keys never change, so they are read without the transaction. An
/// insert or erase changes O(1) nodes on average, near its place, so blocks seldom conflict at the root. Nodes do not
/// know their parents, because a rotation would then write twice as much: walks remember their path.
/// Cost: O(log n), except for size(), check() and clear(), which walk. There is no count of entries, at which all
/// inserts would conflict.
/// Requires: Value is trivially copyable and has a default. Key can be copied and never changes (it may be a string).
/// Less is stateless, and does not throw. The destructor runs while no block uses the map.
/// Thread-safe in blocks. 8 bytes; a node is the key, the value and 24 bytes, and what an allocation costs.
template <class Key, class Value, class Less = std::less<Key>>
  requires detail::container_value<Value>
class ordered_map {
  struct node : detail::red_black_links<node> {
    node(const Key& initial_key, const Value& initial) : key(initial_key), value(initial) {}
    const Key key;
    var<Value> value;
  };
  using path = detail::red_black_path<node>;
  static constexpr unsigned left = detail::red_black_left;
  static constexpr unsigned right = detail::red_black_right;

 public:
  ordered_map() noexcept = default;
  ordered_map(const ordered_map&) = delete;
  ordered_map& operator=(const ordered_map&) = delete;
  ~ordered_map() {
    // Turns the tree into a chain as it goes, so that no stack is needed.
    for (node* at = root_.load(); at != nullptr;) {
      if (node* const lower = at->child[left].load(); lower != nullptr) {
        at->child[left].store(lower->child[right].load());
        lower->child[right].store(at);
        at = lower;
      } else {
        node* const next = at->child[right].load();
        destroy_unshared(at);
        at = next;
      }
    }
  }

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
    node* at = tx.read(root_);
    while (at != nullptr) {
      if (Less()(key, at->key)) {
        at = tx.read(at->child[left]);
      } else if (Less()(at->key, key)) {
        at = tx.read(at->child[right]);
      } else {
        return &at->value;
      }
    }
    return nullptr;
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
    path way(root_);
    node* const found = walk_to(tx, way, key);
    if (found == nullptr) return false;
    way.erase(tx, found);
    tx.destroy(found);
    return true;
  }
  template <class Tx>
  void clear(Tx& tx) {
    // To find the next node, an iterator reads the node that it leaves; destroy() leaves that readable.
    for (iterator<Tx> at(tx, root_); at != std::default_sentinel; ++at) tx.destroy(at.at());
    tx.write(root_, nullptr);
  }

  template <class Tx>
  std::size_t size(Tx& tx) const {
    std::size_t count = 0;
    for (iterator<Tx> at(tx, root_); at != std::default_sentinel; ++at) ++count;
    return count;
  }
  template <class Tx>
  bool empty(Tx& tx) const {
    return tx.read(root_) == nullptr;
  }

  /// for (const auto& [key, value] : map.all(tx)): in the order of the keys. Within the body, while nothing is inserted
  /// or erased.
  template <class Tx>
  auto all(Tx& tx) const {
    return detail::entries<iterator<Tx>>(iterator<Tx>(tx, root_));
  }
  /// The same, beginning at the first key that is not less than `key`.
  template <class Tx>
  auto all_from(Tx& tx, const Key& key) const {
    return detail::entries<iterator<Tx>>(iterator<Tx>(tx, root_, key));
  }
  /// Calls visit(key, value) for all entries.
  template <class Tx, class Visit>
  void for_each(Tx& tx, Visit&& visit) const {
    for (const auto& [key, value] : all(tx)) visit(key, value);
  }

  /// For tests: says what is wrong with the tree (order, colours, heights); null if nothing is.
  template <class Tx>
  const char* check(Tx& tx) const {
    const node* before = nullptr;
    for (iterator<Tx> at(tx, root_); at != std::default_sentinel; ++at) {
      if (before != nullptr && !Less()(before->key, at.at()->key)) return "the keys are not in order";
      before = at.at();
    }
    return path::check(tx, root_);
  }

  template <class Tx>
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = entry<Key, Value>;
    using reference = value_type;
    using pointer = void;
    using difference_type = std::ptrdiff_t;

    iterator(Tx& tx, const var<node*>& root) : tx_(&tx) { go_down(tx.read(root)); }
    iterator(Tx& tx, const var<node*>& root, const Key& least) : tx_(&tx) {
      for (node* at = tx.read(root); at != nullptr;) {
        const bool passed = Less()(at->key, least);
        if (!passed) to_come_[depth_++] = at;
        at = tx.read(at->child[passed ? right : left]);
      }
    }
    value_type operator*() const { return {at()->key, tx_->read(at()->value)}; }
    iterator& operator++() {
      node* const before = to_come_[--depth_];
      go_down(tx_->read(before->child[right]));
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(std::default_sentinel_t) const noexcept { return depth_ == 0; }
    bool operator==(const iterator& other) const noexcept {
      return depth_ == other.depth_ && (depth_ == 0 || at() == other.at());
    }

   private:
    friend ordered_map;
    node* at() const noexcept { return to_come_[depth_ - 1]; }
    void go_down(node* at) {
      for (; at != nullptr; at = tx_->read(at->child[left])) to_come_[depth_++] = at;
    }
    Tx* tx_;
    std::size_t depth_ = 0;
    node* to_come_[path::max_levels];  ///< its ancestors at which the path went left, and the node itself
  };

 private:
  template <class Tx>
  static node* walk_to(Tx& tx, path& way, const Key& key) {
    for (;;) {
      node* const at = way.read_end(tx);
      if (at == nullptr) return nullptr;
      if (Less()(key, at->key)) {
        way.go(at, left);
      } else if (Less()(at->key, key)) {
        way.go(at, right);
      } else {
        return at;
      }
    }
  }
  template <class Tx>
  bool put(Tx& tx, const Key& key, const Value& value, bool replaces) {
    path way(root_);
    if (node* const found = walk_to(tx, way, key); found != nullptr) {
      if (replaces) tx.write(found->value, value);
      return false;
    }
    way.insert(tx, tx.template make<node>(key, value));
    return true;
  }

  var<node*> root_{nullptr};
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm

// SPDX-License-Identifier: Apache-2.0
// What the containers for atomic blocks share.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

#include <txsync/tm/transaction.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm {

/// What the iterators of maps point to: the stored key, and the value at the time when the iterator was dereferenced.
template <class Key, class Value>
struct entry {
  const Key& key;
  Value value;
};

namespace detail {

template <class T>
concept container_value = std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T>;

/// A range for range-for.
template <class Iterator>
class entries {
 public:
  explicit entries(const Iterator& first) noexcept : first_(first) {}
  Iterator begin() const noexcept { return first_; }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  Iterator first_;
};

/// An iterator over a chain of nodes, each of which knows the next one. Node::get(tx) is what it points to.
template <class Node, class Tx>
class chain_iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = decltype(std::declval<const Node&>().get(std::declval<Tx&>()));
  using reference = value_type;
  using pointer = void;
  using difference_type = std::ptrdiff_t;

  chain_iterator(Tx& tx, Node* at) noexcept : tx_(&tx), at_(at) {}
  value_type operator*() const { return at_->get(*tx_); }
  chain_iterator& operator++() {
    at_ = tx_->read(at_->next);
    return *this;
  }
  chain_iterator operator++(int) {
    chain_iterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(std::default_sentinel_t) const noexcept { return at_ == nullptr; }
  bool operator==(const chain_iterator& other) const noexcept { return at_ == other.at_; }

 private:
  Tx* tx_;
  Node* at_;
};

/// Destroys a chain that no transaction can see any more.
template <class Node>
void destroy_unshared_chain(Node* first) noexcept {
  while (first != nullptr) {
    Node* const next = first->next.load();
    destroy_unshared(first);
    first = next;
  }
}

/// A map's node in a chain.
template <class Key, class Value>
struct map_node {
  map_node(const Key& initial_key, const Value& initial, map_node* behind)
      : key(initial_key), value(initial), next(behind) {}
  template <class Tx>
  entry<Key, Value> get(Tx& tx) const {
    return {key, tx.read(value)};
  }
  const Key key;
  var<Value> value;
  var<map_node*> next;
};

/// The node of a sequence.
template <class T>
struct value_node {
  explicit value_node(const T& initial) noexcept : value(initial) {}
  template <class Tx>
  T get(Tx& tx) const {
    return tx.read(value);
  }
  var<T> value;
  var<value_node*> next{nullptr};
  var<value_node*> before{nullptr};
};

}  // namespace detail

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>

#include <txsync/tm/detail/entries.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm {

/// A hash map for atomic blocks: separate chaining, each chain a list of nodes.
///
///     constinit txsync::tm::block deposit{"bank.deposit"};
///     txsync::tm::hash_map<std::uint64_t, long> balances;
///     atomically(deposit, [&](auto& tx) { balances.assign(tx, id, balances.find(tx, id).value_or(0) + amount); });
///
/// Every operation is part of the block whose transaction it is given. It throws std::bad_alloc if there is no memory;
/// that block is then undone. Operations of two blocks on different keys conflict only if the keys share a chain, or if
/// the table grows.
/// Cost: find, insert, assign, erase are O(1) at the usual load of one node per chain. Growth is O(n), by one insert in
/// n. It doubles the table if a chain has become long and there are more nodes than chains. It conflicts with every
/// other block: if that would hurt, set `expected`. There is no count of entries, at which all inserts would conflict,
/// so size() walks.
/// Requires: Value is trivially copyable and has a default. Key can be copied and never changes (it may be a string).
/// Hash and Equal are stateless, and do not throw. The destructor runs while no block uses the map.
/// Thread-safe in blocks. 16 bytes; a node is the key, the value and 8 bytes, and what an allocation costs.
template <class Key, class Value, class Hash = std::hash<Key>, class Equal = std::equal_to<Key>>
  requires detail::container_value<Value>
class hash_map {
  using node = detail::map_node<Key, Value>;
  struct table;
  static constexpr std::size_t min_chains = 16;
  /// A length that chains hardly ever exceed while there are fewer nodes than chains. When there are twice as many
  /// nodes as chains, some chain soon exceeds it.
  static constexpr std::uint64_t usual_longest(std::size_t chains) noexcept {
    return 4 + 2 * static_cast<unsigned>(std::bit_width(chains)) / 5;
  }

 public:
  /// Makes room for `expected` entries before the map grows. The first insert allocates the table.
  explicit hash_map(std::size_t expected = 0) noexcept
      : first_chains_(std::bit_ceil(expected > min_chains ? expected : min_chains)) {}
  hash_map(const hash_map&) = delete;
  hash_map& operator=(const hash_map&) = delete;
  ~hash_map() {
    table* const all = table_.load();
    if (all == nullptr) return;
    for (std::size_t i = 0; i < all->count; ++i) detail::destroy_unshared_chain(all->chains[i].load());
    destroy_unshared(all->chains);
    destroy_unshared(all);
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
    const table* const all = tx.read(table_);
    if (all == nullptr) return nullptr;
    node* const found = find_in(tx, all->chain_of(key), key).at;
    return found != nullptr ? &found->value : nullptr;
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
    table* const all = tx.read(table_);
    if (all == nullptr) return false;
    const position where = find_in(tx, all->chain_of(key), key);
    if (where.at == nullptr) return false;
    tx.write(*where.link, tx.read(where.at->next));
    tx.destroy(where.at);
    return true;
  }
  /// O(n).
  template <class Tx>
  void clear(Tx& tx) {
    table* const all = tx.read(table_);
    if (all == nullptr) return;
    tx.write(table_, nullptr);
    for (std::size_t i = 0; i < all->count; ++i) {
      for (node* at = tx.read(all->chains[i]); at != nullptr; at = tx.read(at->next)) tx.destroy(at);
    }
    tx.destroy(all->chains);
    tx.destroy(all);
  }

  /// O(n): reads every node, and so conflicts with every block that changes the map.
  template <class Tx>
  std::size_t size(Tx& tx) const {
    const table* const all = tx.read(table_);
    return all != nullptr ? count_nodes(tx, *all) : 0;
  }
  template <class Tx>
  bool empty(Tx& tx) const {
    return this->all(tx).begin() == std::default_sentinel;
  }
  /// The present number of chains.
  template <class Tx>
  std::size_t chain_count(Tx& tx) const {
    const table* const all = tx.read(table_);
    return all != nullptr ? all->count : 0;
  }

  /// for (const auto& [key, value] : map.all(tx)): all entries, in no order. Within the body, while nothing is inserted
  /// or erased.
  template <class Tx>
  auto all(Tx& tx) const {
    return detail::entries<iterator<Tx>>(iterator<Tx>(tx, tx.read(table_)));
  }
  /// Calls visit(key, value) for all entries.
  template <class Tx, class Visit>
  void for_each(Tx& tx, Visit&& visit) const {
    for (const auto& [key, value] : all(tx)) visit(key, value);
  }

  template <class Tx>
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = entry<Key, Value>;
    using reference = value_type;
    using pointer = void;
    using difference_type = std::ptrdiff_t;

    iterator(Tx& tx, const table* of) : tx_(&tx), of_(of) { find_chain(); }
    value_type operator*() const { return at_->get(*tx_); }
    iterator& operator++() {
      at_ = tx_->read(at_->next);
      find_chain();
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(std::default_sentinel_t) const noexcept { return at_ == nullptr; }
    bool operator==(const iterator& other) const noexcept { return at_ == other.at_; }

   private:
    void find_chain() {
      while (at_ == nullptr && of_ != nullptr && next_chain_ < of_->count) at_ = tx_->read(of_->chains[next_chain_++]);
    }
    Tx* tx_;
    const table* of_;
    std::size_t next_chain_ = 0;
    node* at_ = nullptr;
  };

 private:
  struct table {
    table(std::size_t length, var<node*>* first) noexcept
        : count(length), chains(first), longest(usual_longest(length)) {}
    var<node*>& chain_of(const Key& key) const { return chains[mix(Hash()(key)) & (count - 1)]; }
    const std::size_t count;
    var<node*>* const chains;
    /// An insert into a longer chain checks whether the table is too small.
    var<std::uint64_t> longest;
  };
  struct position {
    var<node*>* link;
    node* at;
    std::uint64_t before;  ///< nodes before it in the chain
  };

  /// Mixes the hash, which is often the number itself. The multiplier is 2^64 over the golden ratio.
  static std::size_t mix(std::size_t hash) noexcept {
    const std::uint64_t product = std::uint64_t{hash} * 0x9E37'79B9'7F4A'7C15u;
    return product ^ (product >> 32);
  }

  template <class Tx>
  static position find_in(Tx& tx, var<node*>& chain, const Key& key) {
    position where{&chain, tx.read(chain), 0};
    while (where.at != nullptr && !Equal()(where.at->key, key)) {
      where = {&where.at->next, tx.read(where.at->next), where.before + 1};
    }
    return where;
  }

  template <class Tx>
  bool put(Tx& tx, const Key& key, const Value& value, bool replaces) {
    table* all = tx.read(table_);
    if (all == nullptr) {
      all = make_table(tx, first_chains_);
      tx.write(table_, all);
    }
    var<node*>& chain = all->chain_of(key);
    const position where = find_in(tx, chain, key);
    if (where.at != nullptr) {
      if (replaces) tx.write(where.at->value, value);
      return false;
    }
    tx.write(chain, tx.template make<node>(key, value, tx.read(chain)));
    if (where.before > usual_longest(all->count) && where.before > tx.read(all->longest)) relieve(tx, *all);
    return true;
  }

  template <class Tx>
  static table* make_table(Tx& tx, std::size_t chains) {
    return tx.template make<table>(chains, tx.template make_array<var<node*>>(chains));
  }

  template <class Tx>
  static std::size_t count_nodes(Tx& tx, const table& all) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < all.count; ++i) {
      for (node* at = tx.read(all.chains[i]); at != nullptr; at = tx.read(at->next)) ++count;
    }
    return count;
  }

  /// A chain is long. If chance or a bad hash is the cause, longer chains are allowed from now on. Otherwise the table
  /// grows.
  template <class Tx>
  void relieve(Tx& tx, table& crowded) {
    if (count_nodes(tx, crowded) < crowded.count) return tx.write(crowded.longest, tx.read(crowded.longest) * 3 / 2);
    table* const wide = make_table(tx, 2 * crowded.count);
    for (std::size_t i = 0; i < crowded.count; ++i) {
      node* at = tx.read(crowded.chains[i]);
      while (at != nullptr) {
        node* const next = tx.read(at->next);
        var<node*>& chain = wide->chain_of(at->key);
        tx.write(at->next, chain.load());  // no other block knows the new chains yet
        chain.store(at);
        at = next;
      }
    }
    tx.write(table_, wide);
    tx.destroy(crowded.chains);
    tx.destroy(&crowded);
  }

  const std::size_t first_chains_;
  var<table*> table_{nullptr};
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/pages.hpp"
#include "workloads/transactions/access.hpp"

namespace txsync::inline TXSYNC_BACKEND::workloads::transactions {

/// A set of keys in sorted chains: a hash map of so many buckets, or with one of them a sorted list.
template <template <class> class Cell>
class chains {
  struct alignas(16) node {
    Cell<std::int64_t> key{0};
    Cell<std::int64_t> value{0};
    Cell<node*> next{nullptr};
  };

 public:
  struct visitor {
    random_stream random;
    node_pool<node> pool;
    std::int64_t inserted = 0;
    std::uint64_t found = 0;
  };

  explicit chains(const shape_values& shape) : shape_(shape), heads_(shape.buckets), visitors_(shape.threads) {
    for (unsigned i = 0; i < shape.threads; ++i) {
      visitors_[i] = new visitor{random_stream(shape.seed, i), node_pool<node>(shape.inside)};
    }
  }
  ~chains() {
    for (visitor* const one : visitors_) delete one;
  }
  chains(const chains&) = delete;
  chains& operator=(const chains&) = delete;

  bool ok() const noexcept { return heads_.ok(); }
  visitor& visitor_of(unsigned thread) { return *visitors_[thread]; }

  /// Before the threads start. Sections make the nodes that sections destroy.
  template <class System>
  void fill(System& system) {
    fill_half(shape_, visitors_, [&](std::int64_t key, node* fresh) {
      return system.write([&](auto& access) { return insert(access, key, fresh); });
    });
  }
  /// After they have ended.
  template <class System>
  void empty(System& system) {
    if (!shape_.inside) return;
    lone_access access;
    for (Cell<node*>& first : heads_) {
      for (node* one = access.read(first); one != nullptr;) {
        node* const next = access.read(one->next);
        system.write([&](auto& inner) { inner.destroy(one); });
        one = next;
      }
    }
  }

  template <class System>
  void step(System& system, visitor& mine) {
    const set_operation drawn = set_operation::draw(mine.random, shape_);
    switch (drawn.what) {
      case set_operation::kind::find:
        mine.found += system.read([&](auto& access) { return contains(access, drawn.key); }) ? 1 : 0;
        break;
      case set_operation::kind::insert: {
        node* const fresh = mine.pool.take();
        if (system.write([&](auto& access) { return insert(access, drawn.key, fresh); })) {
          ++mine.inserted;
        } else {
          mine.pool.give(fresh);
        }
        break;
      }
      case set_operation::kind::remove:
        if (node* const gone = system.write([&](auto& access) { return remove(access, drawn.key, shape_.inside); })) {
          --mine.inserted;
          mine.pool.give(gone);
        }
        break;
    }
  }

  const char* complaint() {
    lone_access access;
    std::int64_t count = 0;
    for (std::uint64_t bucket = 0; bucket < shape_.buckets; ++bucket) {
      std::int64_t before = -1;
      for (node* one = access.read(heads_[bucket]); one != nullptr; one = access.read(one->next)) {
        const std::int64_t key = access.read(one->key);
        if (key <= before) return "a chain is out of order";
        if (static_cast<std::uint64_t>(key) % shape_.buckets != bucket) return "a key is in another chain than its own";
        before = key;
        ++count;
      }
    }
    std::int64_t expected = static_cast<std::int64_t>(shape_.size / 2);
    for (const visitor* const one : visitors_) expected += one->inserted;
    return count == expected ? nullptr : "keys were lost, or are there twice";
  }

  std::uint64_t hash() {
    lone_access access;
    running_hash all;
    for (Cell<node*>& first : heads_) {
      for (node* one = access.read(first); one != nullptr; one = access.read(one->next)) {
        all.add(static_cast<std::uint64_t>(access.read(one->key)));
      }
    }
    return all.value();
  }

 private:
  Cell<node*>& head(std::int64_t key) { return heads_[static_cast<std::uint64_t>(key) % shape_.buckets]; }

  struct position {
    Cell<node*>* link;
    node* at;
  };
  /// The first node whose key is not less, and the link to it.
  template <class Access>
  position find(Access& access, std::int64_t key) {
    Cell<node*>* link = &head(key);
    node* at = access.read(*link);
    while (at != nullptr && access.read(at->key) < key) {
      link = &at->next;
      at = access.read(*link);
    }
    return {link, at};
  }
  template <class Access>
  bool contains(Access& access, std::int64_t key) {
    node* const at = find(access, key).at;
    return at != nullptr && access.read(at->key) == key;
  }
  template <class Access>
  bool insert(Access& access, std::int64_t key, node* taken) {
    const auto [link, at] = find(access, key);
    if (at != nullptr && access.read(at->key) == key) return false;
    node* const fresh = node_of(access, taken);
    access.write(fresh->key, key);
    access.write(fresh->next, at);
    access.write(*link, fresh);
    return true;
  }
  /// The node that was taken out; where it has been destroyed, only whether there was one.
  template <class Access>
  node* remove(Access& access, std::int64_t key, bool destroys) {
    const auto [link, at] = find(access, key);
    if (at == nullptr || access.read(at->key) != key) return nullptr;
    access.write(*link, access.read(at->next));
    if (destroys) access.destroy(at);
    return at;
  }

  shape_values shape_;
  page_array<Cell<node*>> heads_;
  std::vector<visitor*> visitors_;
};

}  // namespace txsync::inline TXSYNC_BACKEND::workloads::transactions

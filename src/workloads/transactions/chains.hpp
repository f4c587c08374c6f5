// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/harness/pages.hpp"
#include "workloads/transactions/key_set.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads::transactions {

template <template <class> class Cell>
struct alignas(16) chains_node {
  Cell<std::int64_t> key{0};
  Cell<std::int64_t> value{0};
  Cell<chains_node*> next{nullptr};
};

/// A set of keys in sorted chains: a hash map with `buckets` chains, or with one of them a sorted list.
template <template <class> class Cell>
class chains : public key_set<chains<Cell>, chains_node<Cell>> {
  using base = key_set<chains, chains_node<Cell>>;
  friend base;
  using node = chains_node<Cell>;
  using base::shape;

 public:
  explicit chains(const shape_values& wanted) : base(wanted), heads_(wanted.buckets) {}
  chains(const chains&) = delete;
  chains& operator=(const chains&) = delete;

  bool ok() const noexcept { return heads_.ok(); }

  /// Called after the threads have ended.
  template <class System>
  void empty(System& system) {
    if (!shape().inside) return;
    lone_access access;
    for (Cell<node*>& first : heads_) {
      for (node* one = access.read(first); one != nullptr;) {
        node* const next = access.read(one->next);
        system.write([&](auto& inner) { inner.destroy(one); });
        one = next;
      }
    }
  }

  const char* complaint() {
    lone_access access;
    std::int64_t count = 0;
    for (std::uint64_t bucket = 0; bucket < shape().buckets; ++bucket) {
      std::int64_t before = -1;
      for (node* one = access.read(heads_[bucket]); one != nullptr; one = access.read(one->next)) {
        const std::int64_t key = access.read(one->key);
        if (key <= before) return "a chain is out of order";
        if (static_cast<std::uint64_t>(key) % shape().buckets != bucket)
          return "a key is in another chain than its own";
        before = key;
        ++count;
      }
    }
    return base::complaint_of_count(count);
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
  Cell<node*>& head(std::int64_t key) { return heads_[static_cast<std::uint64_t>(key) % shape().buckets]; }

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
  /// The node that was removed. If it has been destroyed, the pointer only says whether there was one.
  template <class Access>
  node* remove(Access& access, std::int64_t key, bool destroys) {
    const auto [link, at] = find(access, key);
    if (at == nullptr || access.read(at->key) != key) return nullptr;
    access.write(*link, access.read(at->next));
    if (destroys) access.destroy(at);
    return at;
  }

  page_array<Cell<node*>> heads_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads::transactions

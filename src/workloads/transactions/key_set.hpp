// SPDX-License-Identifier: Apache-2.0
// What sets of keys have in common: threads that look up, insert and remove, with their own nodes, and count.
#pragma once

#include <vector>

#include "workloads/transactions/access.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads::transactions {

/// Self has these functions for a section's access: contains(access, key), insert(access, key, node or null) and
/// remove(access, key, destroys), which returns the node. It cannot be copied.
template <class Self, class Node>
class key_set {
 public:
  /// Of one thread. Without the alignment two threads may write to one line: 14 M blocks/s instead of 19 (hash-10).
  struct alignas(machine::pad_bytes) visitor {
    random_stream random;
    node_pool<Node> pool;
    std::int64_t inserted = 0;  ///< minus those removed
    std::uint64_t found = 0;
  };

  visitor& visitor_of(unsigned thread) { return *visitors_[thread]; }

  /// Called before the threads start. Sections make the nodes that sections destroy.
  template <class System>
  void fill(System& system) {
    fill_half(shape_, visitors_, [&](std::int64_t key, Node* fresh) { return insert_in(system, key, fresh); });
  }

  template <class System>
  void step(System& system, visitor& mine) {
    const set_operation drawn = set_operation::draw(mine.random, shape_);
    switch (drawn.what) {
      case set_operation::kind::find:
        mine.found += system.read([&](auto& access) { return self().contains(access, drawn.key); }) ? 1 : 0;
        break;
      case set_operation::kind::insert: {
        Node* const fresh = mine.pool.take();
        if (insert_in(system, drawn.key, fresh)) {
          ++mine.inserted;
        } else {
          mine.pool.give(fresh);
        }
        break;
      }
      case set_operation::kind::remove:
        if (Node* const gone =
                system.write([&](auto& access) { return self().remove(access, drawn.key, shape_.inside); })) {
          --mine.inserted;
          mine.pool.give(gone);
        }
        break;
    }
  }

 protected:
  const shape_values& shape() const noexcept { return shape_; }
  /// Null, or what is wrong with a set of `count` keys.
  const char* complaint_of_count(std::int64_t count) const {
    auto expected = static_cast<std::int64_t>(shape_.size / 2);
    for (const visitor* const one : visitors_) expected += one->inserted;
    return count == expected ? nullptr : "keys were lost, or are there twice";
  }

 private:
  friend Self;
  explicit key_set(const shape_values& shape) : shape_(shape), visitors_(shape.threads) {
    for (unsigned i = 0; i < shape.threads; ++i) {
      visitors_[i] = new visitor{random_stream(shape.seed, i), node_pool<Node>(shape.inside)};
    }
  }
  ~key_set() {
    for (visitor* const one : visitors_) delete one;
  }

  template <class System>
  bool insert_in(System& system, std::int64_t key, Node* fresh) {
    return system.write([&](auto& access) { return self().insert(access, key, fresh); });
  }
  Self& self() noexcept { return static_cast<Self&>(*this); }

  shape_values shape_;
  std::vector<visitor*> visitors_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads::transactions

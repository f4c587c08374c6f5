// SPDX-License-Identifier: Apache-2.0
// Structures that are written once, for transactions and for locks. Their cells are tm::var in one case and plain
// values in the other. Every access goes through an object that the critical section or block is given.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include <txsync/machine/cpu.hpp>

#include "workloads/harness/random.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads::transactions {

/// The cells of structures under a lock, and of peers whose compiler instruments accesses.
template <class T>
using plain_cell = T;

struct plain_access {
  template <class T>
    requires std::is_scalar_v<T>
  T read(const T& place) const noexcept {
    return place;
  }
  template <class T>
    requires std::is_scalar_v<T>
  void write(T& place, const std::type_identity_t<T>& value) const noexcept {
    place = value;
  }
  template <class T>
  T* make() const {
    void* const memory = std::malloc(sizeof(T));
    if (memory == nullptr) throw std::bad_alloc();
    return new (memory) T;
  }
  template <class T>
  void destroy(T* object) const {
    static_assert(std::is_trivially_destructible_v<T>);
    std::free(object);
  }
};

/// For both kinds of cells, before the threads start and after they have ended.
struct lone_access : plain_access {
  using plain_access::read;
  using plain_access::write;
  template <class T>
    requires requires(const T& place) { place.load(); }
  auto read(const T& place) const noexcept {
    return place.load();
  }
  template <class T, class V>
    requires requires(T& place, const V& value) { place.store(value); }
  void write(T& place, const V& value) const noexcept {
    place.store(value);
  }
};

/// Where nodes come from. Either it is a thread's own pool, used outside of sections, from which nodes never return to
/// the heap. Or the section allocates them.
template <class Node>
class node_pool {
 public:
  explicit node_pool(bool inside = false) noexcept : inside_(inside) {}

  bool allocates_inside() const noexcept { return inside_; }
  /// A node to insert; null if the section has to make it.
  Node* take() {
    if (inside_) return nullptr;
    if (free_.empty()) return &all_.emplace_back();
    Node* const taken = free_.back();
    free_.pop_back();
    return taken;
  }
  void give(Node* one) {
    if (one != nullptr && !inside_) free_.push_back(one);
  }

 private:
  bool inside_;
  std::deque<Node> all_;
  std::vector<Node*> free_;
};

/// In a section: the node that was taken before it, or a new one.
template <class Node, class Access>
auto node_of(Access& access, Node* taken) -> Node* {
  return taken != nullptr ? taken : access.template make<Node>();
}

/// The parameters of each structure.
struct shape_values {
  std::uint64_t size;     ///< accounts, or keys, half of which are there initially
  std::uint64_t buckets;  ///< chains
  std::uint64_t updates;  ///< in percent
  bool inside;            ///< nodes are allocated and freed in sections
  unsigned threads;
  std::uint64_t seed;
  std::uint64_t transfers;  ///< in percent of the operations, beside a list
};

/// Puts half of the keys into a set by insert(key, node or null), with nodes of all threads. It goes from the greatest
/// key down, so each chain inserts at its head. The nodes are anywhere in memory.
template <class Visitor, class Insert>
void fill_half(const shape_values& shape, std::vector<Visitor*>& visitors, const Insert& insert) {
  random_stream random(shape.seed, shape.threads);
  std::uint64_t missing = shape.size / 2;
  std::vector<decltype(visitors[0]->pool.take())> nodes(missing);
  for (std::uint64_t i = 0; i < missing; ++i) {
    nodes[i] = visitors[i % shape.threads]->pool.take();
    std::swap(nodes[i], nodes[random.below(i + 1)]);
  }
  for (std::uint64_t key = shape.size; key-- != 0 && missing != 0;) {
    if (random.below(key + 1) < missing) insert(static_cast<std::int64_t>(key), nodes[--missing]);
  }
}

/// Draws an operation on a set of keys.
struct set_operation {
  enum class kind : std::uint8_t { find, insert, remove } what;
  std::int64_t key;

  static set_operation draw(random_stream& random, const shape_values& shape) noexcept {
    const auto key = static_cast<std::int64_t>(random.below(shape.size));
    if (!random.percent(shape.updates)) return {kind::find, key};
    return {random.percent(50) ? kind::insert : kind::remove, key};
  }
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads::transactions

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <txsync/machine/cpu.hpp>
#include <txsync/tm/detail/entries.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm {

/// An unbounded first-in-first-out queue for atomic blocks.
///
/// Every operation is part of the block whose transaction it is given. So a block can take an element and write what it
/// does with it in one step, or move elements from queue to queue. push() throws std::bad_alloc if there is no memory;
/// that block is then undone.
/// Blocks that push conflict with each other, and so do blocks that pop. A push conflicts with a pop only if the queue
/// is empty or nearly so. A popped node stays as the head, so the two ends have no word in common. (Michael and Scott,
/// "Simple, fast, and practical non-blocking and blocking concurrent queue algorithms", PODC 1996.) size() reads both
/// ends, so it conflicts with all other blocks.
/// Cost: O(1), except for clear(), which walks.
/// Requires: T is trivially copyable and has a default. The destructor runs while no block uses the queue.
/// Thread-safe in blocks. 512 bytes; an element is its value and 8 bytes, and what an allocation costs.
template <class T>
  requires detail::container_value<T>
class queue {
  struct node {
    node() noexcept = default;
    explicit node(const T& initial) noexcept : value(initial) {}
    template <class Tx>
    T get(Tx&) const {
      return value;
    }
    const T value{};
    var<node*> next{nullptr};
  };

 public:
  queue() noexcept : head_(&no_element_), tail_(&no_element_) {}
  queue(const queue&) = delete;
  queue& operator=(const queue&) = delete;
  ~queue() {
    node* const head = head_.load();
    detail::destroy_unshared_chain(head->next.load());
    if (head != &no_element_) destroy_unshared(head);
  }

  template <class Tx>
  void push(Tx& tx, const T& value) {
    node* const fresh = tx.template make<node>(value);
    tx.write(tx.read(tail_)->next, fresh);
    tx.write(tail_, fresh);
    tx.write(pushed_, tx.read(pushed_) + 1);
  }
  /// Removes the oldest element and returns it. If there is none, the block waits for one by tx.retry(), so pop() may
  /// be used in or_else().
  template <class Tx>
  T pop(Tx& tx) {
    node* const head = tx.read(head_);
    node* const first = tx.read(head->next);
    if (first == nullptr) tx.retry();
    return take(tx, head, first);
  }
  /// Returns nothing if the queue is empty.
  template <class Tx>
  std::optional<T> try_pop(Tx& tx) {
    node* const head = tx.read(head_);
    node* const first = tx.read(head->next);
    if (first == nullptr) return std::nullopt;
    return take(tx, head, first);
  }
  /// The oldest element, which stays in the queue.
  template <class Tx>
  std::optional<T> front(Tx& tx) const {
    const node* const first = first_of(tx);
    return first != nullptr ? std::optional<T>(first->value) : std::nullopt;
  }
  template <class Tx>
  bool empty(Tx& tx) const {
    return first_of(tx) == nullptr;
  }
  template <class Tx>
  std::size_t size(Tx& tx) const {
    return static_cast<std::size_t>(tx.read(pushed_) - tx.read(popped_));
  }
  /// O(n).
  template <class Tx>
  void clear(Tx& tx) {
    node* head = tx.read(head_);
    for (node* next = tx.read(head->next); next != nullptr; next = tx.read(head->next)) {
      give_back(tx, head);
      head = next;
    }
    tx.write(head_, head);
    tx.write(popped_, tx.read(pushed_));
  }

  /// for (const T value : queue.all(tx)): from the oldest element on. Within the body, while nothing is popped.
  template <class Tx>
  auto all(Tx& tx) const {
    using iterator = detail::chain_iterator<node, Tx>;
    return detail::entries<iterator>(iterator(tx, first_of(tx)));
  }
  template <class Tx, class Visit>
  void for_each(Tx& tx, Visit&& visit) const {
    for (const T value : all(tx)) visit(value);
  }

 private:
  template <class Tx>
  node* first_of(Tx& tx) const {
    return tx.read(tx.read(head_)->next);
  }
  template <class Tx>
  T take(Tx& tx, node* head, node* first) {
    tx.write(head_, first);
    tx.write(popped_, tx.read(popped_) + 1);
    give_back(tx, head);
    return first->value;
  }
  template <class Tx>
  void give_back(Tx& tx, node* head) {
    if (head != &no_element_) tx.destroy(head);
  }

  // The words that pops write, the words that pushes write, and the head of a queue from which nothing has been popped.
  alignas(machine::pad_bytes) var<node*> head_;
  var<std::uint64_t> popped_{0};
  alignas(machine::pad_bytes) var<node*> tail_;
  var<std::uint64_t> pushed_{0};
  alignas(machine::pad_bytes) node no_element_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm

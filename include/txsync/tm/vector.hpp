// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iterator>

#include <txsync/tm/detail/entries.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm {

/// A growing array for atomic blocks.
///
/// Every operation is part of the block whose transaction it is given. Operations that grow the vector throw
/// std::bad_alloc if there is no memory; that block is then undone. All operations read the size, so a block that
/// changes the size conflicts with all others. Blocks that do not change it conflict only at elements of the same 32
/// bytes.
/// Cost: O(1) per element. push_back() is O(n) once in n, when the storage doubles: the elements move, and the old
/// storage is given back.
/// Requires: T is trivially copyable and has a default. The destructor runs while no block uses the vector.
/// Thread-safe in blocks. 24 bytes; an element is its value in whole words of 8 bytes.
template <class T>
  requires detail::container_value<T>
class vector {
 public:
  vector() noexcept = default;
  vector(const vector&) = delete;
  vector& operator=(const vector&) = delete;
  ~vector() { destroy_unshared(storage_.load()); }

  /// Throws std::out_of_range. The block is then undone, unless it catches that.
  template <class Tx>
  T at(Tx& tx, std::size_t index) const {
    return tx.read(place_of(tx, index));
  }
  template <class Tx>
  void set(Tx& tx, std::size_t index, const T& value) {
    tx.write(place_of(tx, index), value);
  }
  /// The var of that element, which this block may read and write until the vector grows. Throws std::out_of_range.
  template <class Tx>
  var<T>& place_of(Tx& tx, std::size_t index) const {
    if (index >= tx.read(size_)) detail::throw_no_such_element();
    return tx.read(storage_)[index];
  }

  template <class Tx>
  void push_back(Tx& tx, const T& value) {
    const std::size_t length = tx.read(size_);
    if (length == tx.read(capacity_)) reserve(tx, length == 0 ? min_capacity : 2 * length);
    tx.write(tx.read(storage_)[length], value);
    tx.write(size_, length + 1);
  }
  /// Removes the last element and returns it. Throws std::out_of_range if there is none.
  template <class Tx>
  T pop_back(Tx& tx) {
    const std::size_t length = tx.read(size_);
    const T value = at(tx, length - 1);  // in an empty vector, the index is the maximum value
    tx.write(size_, length - 1);
    return value;
  }
  /// New elements have that value.
  template <class Tx>
  void resize(Tx& tx, std::size_t length, const T& value = T{}) {
    reserve(tx, length);
    var<T>* const storage = tx.read(storage_);
    for (std::size_t i = tx.read(size_); i < length; ++i) tx.write(storage[i], value);
    tx.write(size_, length);
  }
  /// Makes room for at least `capacity` elements.
  template <class Tx>
  void reserve(Tx& tx, std::size_t capacity) {
    if (capacity <= tx.read(capacity_)) return;
    var<T>* const old = tx.read(storage_);
    var<T>* const fresh = tx.template make_array<var<T>>(capacity);
    // No other block knows the new storage yet.
    for (std::size_t i = 0; i < tx.read(size_); ++i) fresh[i].store(tx.read(old[i]));
    tx.write(storage_, fresh);
    tx.write(capacity_, capacity);
    tx.destroy(old);
  }
  /// Keeps the storage.
  template <class Tx>
  void clear(Tx& tx) {
    tx.write(size_, std::size_t{0});
  }

  template <class Tx>
  std::size_t size(Tx& tx) const {
    return tx.read(size_);
  }
  template <class Tx>
  std::size_t capacity(Tx& tx) const {
    return tx.read(capacity_);
  }
  template <class Tx>
  bool empty(Tx& tx) const {
    return tx.read(size_) == 0;
  }

  /// for (const T value : vector.all(tx)): the present elements. Within the body, until the vector grows.
  template <class Tx>
  auto all(Tx& tx) const {
    return detail::entries<iterator<Tx>>(iterator<Tx>(tx, tx.read(storage_), tx.read(size_)));
  }
  template <class Tx, class Visit>
  void for_each(Tx& tx, Visit&& visit) const {
    for (const T value : all(tx)) visit(value);
  }

  template <class Tx>
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = T;
    using reference = T;
    using pointer = void;
    using difference_type = std::ptrdiff_t;

    iterator(Tx& tx, const var<T>* first, std::size_t length) noexcept : tx_(&tx), at_(first), left_(length) {}
    T operator*() const { return tx_->read(*at_); }
    iterator& operator++() noexcept {
      ++at_;
      --left_;
      return *this;
    }
    iterator operator++(int) noexcept {
      iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(std::default_sentinel_t) const noexcept { return left_ == 0; }
    bool operator==(const iterator& other) const noexcept { return at_ == other.at_; }

   private:
    Tx* tx_;
    const var<T>* at_;
    std::size_t left_;
  };

 private:
  static constexpr std::size_t min_capacity = 8;

  var<var<T>*> storage_{nullptr};
  var<std::size_t> size_{0};
  var<std::size_t> capacity_{0};
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm

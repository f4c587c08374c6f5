// SPDX-License-Identifier: Apache-2.0
// What a transaction has written and not yet stored: the write buffer of norec, tl2 and tinystm_wb.
#pragma once

#include <cstddef>
#include <cstdint>

#include <txsync/machine/assert.hpp>
#include <txsync/tm/detail/growing_log.hpp>
#include <txsync/tm/var.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

/// A word of memory with its future value.
struct new_value {
  word* cell;
  std::uint64_t value;
};

/// Words in the order of their first write, found by a hash of their addresses (open addressing, at most half full).
/// The first put() allocates memory, which the set keeps. For one thread.
class write_set {
 public:
  write_set() noexcept = default;
  write_set(const write_set&) = delete;
  write_set& operator=(const write_set&) = delete;
  ~write_set();

  bool empty() const noexcept { return entries_.empty(); }
  std::size_t size() const noexcept { return entries_.size(); }
  new_value* begin() const noexcept { return entries_.begin(); }
  new_value* end() const noexcept { return entries_.end(); }

  /// The value last put for a word, or null if there is none. The pointer is good until the next put().
  const std::uint64_t* find(const word& cell) const noexcept {
    if (empty()) return nullptr;
    const slot& found = slots_[slot_of(cell)];
    return found.generation == generation_ ? &entries_[found.index].value : nullptr;
  }

  enum class outcome : bool { overwritten, added };
  /// Throws std::bad_alloc, and then nothing has changed. `keep_replaced`: roll_back_to() may have to go back to before
  /// it.
  outcome put(word& cell, std::uint64_t value, bool keep_replaced);

  /// Stores all values. A thread that reads one with acquire also sees all that was stored before it.
  void store_all() const noexcept {
    // release pairs with the acquire of engine::read_word() and of norec's read()
    for (const new_value& one : entries_) one.cell->store(one.value, std::memory_order_release);
  }

  /// How many values put() has overwritten, for roll_back_to().
  std::size_t replaced() const noexcept { return replaced_.size(); }
  /// Restores the set of when it had that size(), and that many were replaced(). Requires: each put() since then kept
  /// them.
  void roll_back_to(std::size_t size, std::size_t replaced) noexcept;

  /// Costs the same whatever the set holds, except once in 2^32 times.
  void clear() noexcept {
    if (empty()) return;
    entries_.clear();
    replaced_.clear();
    if (++generation_ == 0) forget_generations();
  }

  /// For tests: as if an empty set had been used and cleared so often that the next clear() is the expensive one.
  void count_all_but_one_generation() noexcept { generation_ = ~std::uint32_t{0}; }

 private:
  struct slot {
    std::uint32_t generation;  ///< differs from the set's: the slot is free
    std::uint32_t index;       ///< in entries_
  };
  struct old_entry {
    std::size_t index;
    std::uint64_t value;
  };
  static constexpr unsigned first_bits = 6;

  std::size_t slot_count() const noexcept { return std::size_t{1} << (64 - shift_); }
  /// The slot where the word is, or is to be put. Requires: there are slots.
  std::size_t slot_of(const word& cell) const noexcept {
    TXSYNC_ASSERT_VALUE(slots_ != nullptr, "there are slots");
    // The upper bits of a product with the golden ratio's digits (Knuth's multiplicative hashing).
    std::size_t at = (reinterpret_cast<std::uintptr_t>(&cell) / sizeof(word)) * 0x9E3779B97F4A7C15u >> shift_;
    while (slots_[at].generation == generation_ && entries_[slots_[at].index].cell != &cell) {
      at = (at + 1) & (slot_count() - 1);
    }
    return at;
  }
  void grow();
  void forget_generations() noexcept;

  growing_log<new_value> entries_;
  growing_log<old_entry> replaced_;
  slot* slots_ = nullptr;
  unsigned shift_ = 64;  ///< 64 minus the bits of the slots' indices
  std::uint32_t generation_ = 1;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail

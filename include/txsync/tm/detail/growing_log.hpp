// SPDX-License-Identifier: Apache-2.0
// A log of a transaction: an append takes a few instructions, and the memory is kept from one transaction to the next.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <txsync/export.hpp>
#include <txsync/machine/assert.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

/// Returns `bytes` of memory that begin with the contents of the old memory, which is given back. Throws
/// std::bad_alloc; the old memory is then unchanged.
TXSYNC_EXPORT void* grow_log(void* old, std::size_t bytes);
TXSYNC_EXPORT void free_log(void* memory) noexcept;

template <class Entry>
  requires std::is_trivially_copyable_v<Entry>
class growing_log {
 public:
  growing_log() noexcept = default;
  growing_log(const growing_log&) = delete;
  growing_log& operator=(const growing_log&) = delete;
  ~growing_log() { free_log(static_cast<void*>(first_)); }

  /// Throws std::bad_alloc; nothing is appended then.
  [[gnu::always_inline]] void append(const Entry& entry) {
    reserve_one();
    *next_++ = entry;
  }
  /// Requires: has_room(), and `place` is end(). The caller has read that before.
  [[gnu::always_inline]] void append_at(Entry* place, const Entry& entry) noexcept {
    TXSYNC_ASSERT_VALUE(has_room() && place == next_, "the log has room for another entry, at that place");
    *place = entry;
    next_ = place + 1;
  }
  /// Whether append() needs no memory.
  bool has_room() const noexcept { return next_ != end_; }
  /// The next append() throws nothing.
  [[gnu::always_inline]] void reserve_one() {
    if (next_ == end_) [[unlikely]]
      grow();
  }
  Entry* begin() const noexcept { return first_; }
  Entry* end() const noexcept { return next_; }
  Entry& operator[](std::size_t index) const noexcept { return first_[index]; }
  std::size_t size() const noexcept { return static_cast<std::size_t>(next_ - first_); }
  bool empty() const noexcept { return next_ == first_; }
  void clear() noexcept { next_ = first_; }
  void swap(growing_log& other) noexcept {
    std::swap(first_, other.first_);
    std::swap(next_, other.next_);
    std::swap(end_, other.end_);
  }
  /// Requires: it has at least that many entries.
  void truncate(std::size_t length) noexcept {
    TXSYNC_ASSERT_VALUE(length <= size(), "the log has at least as many entries as it keeps");
    next_ = first_ + length;
  }

 private:
  static constexpr std::size_t first_length = 64;
  static constexpr std::size_t entry_bytes = sizeof(Entry);  // NOLINT(bugprone-sizeof-expression): pointers too
  [[gnu::noinline]] void grow() {
    const std::size_t used = size();
    const std::size_t length = used == 0 ? first_length : 2 * used;
    first_ = static_cast<Entry*>(grow_log(static_cast<void*>(first_), length * entry_bytes));
    next_ = first_ + used;
    end_ = first_ + length;
  }

  Entry* first_ = nullptr;
  Entry* next_ = nullptr;
  Entry* end_ = nullptr;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail

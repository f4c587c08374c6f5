// SPDX-License-Identifier: Apache-2.0
// A value that atomic blocks read and write.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm {

namespace detail {
template <class Self>
class transaction_base;
}

/// What transactions read and write: all of the library's algorithms work on words of 8 bytes.
using word = std::atomic<std::uint64_t>;

/// A value of T that atomic blocks read and write through their transaction: tx.read(v), tx.write(v, x). It occupies
/// whole words: 8 bytes also for an int, 16 for two pointers.
/// Requires: T is trivially copyable. Accesses of blocks in different threads to one var are atomic, also for a T of
/// several words. Anything else that threads share within blocks must not change while they share it.
/// Constant-initialised for numbers, enumerations, null pointers, and other T without padding bytes (not for long
/// double, which has some). It has a default if T has one. Not copyable: it is a place, not a value.
template <class T>
  requires std::is_trivially_copyable_v<T>
class var {
 public:
  static constexpr unsigned bytes = sizeof(T);  // NOLINT(bugprone-sizeof-expression): pointers too
  static constexpr unsigned words = (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);

  constexpr var() noexcept
    requires std::is_default_constructible_v<T>
      : var(T{}) {}
  constexpr explicit(false) var(const T& initial) noexcept {
    std::uint64_t copy[words]{};
    to_words(initial, copy);
    for (unsigned i = 0; i < words; ++i) words_[i].store_constant(copy[i]);
  }
  var(const var&) = delete;
  var& operator=(const var&) = delete;

  /// Outside of blocks. Requires: no block that writes it can be running. So this is for times before threads start or
  /// after they have ended, or for what a block has made private (transaction::privatize()).
  T load() const noexcept {
    std::uint64_t copy[words];
    // relaxed, here and in store(): nobody else writes, see above
    for (unsigned i = 0; i < words; ++i) copy[i] = words_[i].value.load(std::memory_order_relaxed);
    return from_words(copy);
  }
  /// The same. Requires: no block that reads it can be running either.
  void store(const T& value) noexcept {
    std::uint64_t copy[words];
    to_words(value, copy);
    for (unsigned i = 0; i < words; ++i) words_[i].value.store(copy[i], std::memory_order_relaxed);
  }

 private:
  template <class Self>
  friend class detail::transaction_base;

  word& at(unsigned index) noexcept { return words_[index].value; }
  const word& at(unsigned index) const noexcept { return words_[index].value; }
  static T from_words(const std::uint64_t (&copy)[words]) noexcept {
    if constexpr (is_number) {
      return static_cast<T>(copy[0]);
    } else if constexpr (bytes == sizeof(std::uint64_t)) {
      return std::bit_cast<T>(copy[0]);
    } else {
      std::array<unsigned char, bytes> first;
      std::memcpy(first.data(), copy, bytes);
      return std::bit_cast<T>(first);
    }
  }
  static constexpr void to_words(const T& value, std::uint64_t (&copy)[words]) noexcept {
    if constexpr (is_number) {
      copy[0] = static_cast<std::uint64_t>(value);
    } else if constexpr (std::is_pointer_v<T>) {
      copy[0] = value == nullptr ? 0 : std::bit_cast<std::uint64_t>(value);
    } else if constexpr (bytes == sizeof(std::uint64_t)) {
      copy[0] = std::bit_cast<std::uint64_t>(value);
    } else if (std::is_constant_evaluated()) {
      const auto first = std::bit_cast<std::array<unsigned char, bytes>>(value);
      std::array<unsigned char, sizeof copy> all{};
      for (unsigned i = 0; i < bytes; ++i) all[i] = first[i];
      const auto made = std::bit_cast<std::array<std::uint64_t, words>>(all);
      for (unsigned i = 0; i < words; ++i) copy[i] = made[i];
    } else {
      copy[words - 1] = 0;
      std::memcpy(copy, static_cast<const void*>(&value), bytes);
    }
  }
  /// Whether T is a number in one word: __int128 is an integral type, too, under -std=gnu++20.
  static constexpr bool is_number = words == 1 && (std::is_integral_v<T> || std::is_enum_v<T>);
  struct cell {
    word value{0};
    constexpr cell() noexcept = default;
    constexpr void store_constant(std::uint64_t initial) noexcept {
      if (std::is_constant_evaluated()) {
        if (initial != 0) std::construct_at(&value, initial);
      } else {
        value.store(initial, std::memory_order_relaxed);
      }
    }
  };

  cell words_[words];
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm

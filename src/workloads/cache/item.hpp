// SPDX-License-Identifier: Apache-2.0
// What a cache stores: an entry of any size with its key, and a key to look for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <txsync/machine/assert.hpp>

#include "workloads/harness/random.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads::cache {

inline constexpr unsigned max_key_bytes = 250;                     ///< bytes, as in memcached
inline constexpr std::size_t largest_item = std::size_t{1} << 20;  ///< bytes with header and key, as in memcached

/// The header of an entry. Its key follows, padded with zeros to whole words, then its value. With a key of 8 bytes,
/// header and key fill a line.
///
/// The memory of an item remains an item, in use or free, as long as the cache exists. `next` leads to items or is
/// null. So a warm-up, which looks without the lock, may see old items, but nothing else.
struct item {
  static constexpr std::uint8_t linked_bit = 0x80;

  item* next;   ///< in the chain of its bucket; for a free item, the next free one
  item* newer;  ///< the next newer item of its size class, in the order of use
  item* older;
  std::uint64_t cas;  ///< a new number for each change
  std::uint32_t hash;
  std::uint32_t value_bytes;
  std::uint32_t flags;       ///< the client's flags
  std::uint32_t expires;     ///< second; 0: never
  std::uint32_t moved;       ///< the second in which it was moved to the front of its order
  std::uint16_t references;  ///< users, without the table
  std::uint8_t key_bytes;
  std::uint8_t place;  ///< its size class; also linked_bit if it is in the table

  static constexpr unsigned words_of(unsigned bytes) noexcept { return (bytes + 7) / 8; }
  static constexpr std::size_t bytes_of(unsigned key_bytes, std::size_t value_bytes) noexcept;

  std::uint64_t* key_words() noexcept { return reinterpret_cast<std::uint64_t*>(this + 1); }
  const std::uint64_t* key_words() const noexcept { return reinterpret_cast<const std::uint64_t*>(this + 1); }
  char* value() noexcept { return reinterpret_cast<char*>(key_words() + words_of(key_bytes)); }
  const char* value() const noexcept { return reinterpret_cast<const char*>(key_words() + words_of(key_bytes)); }
  unsigned size_class() const noexcept { return place & ~linked_bit; }
  bool linked() const noexcept { return (place & linked_bit) != 0; }
  std::size_t bytes() const noexcept { return bytes_of(key_bytes, value_bytes); }
};
static_assert(sizeof(item) == 56 && alignof(item) == 8);

constexpr std::size_t item::bytes_of(unsigned key_bytes, std::size_t value_bytes) noexcept {
  return sizeof(item) + std::size_t{8} * words_of(key_bytes) + value_bytes;
}

/// A key with its hash, in words like those of items.
class item_key {
 public:
  item_key() noexcept = default;
  /// Requires: 0 < bytes <= max_key_bytes.
  item_key(const char* text, unsigned bytes) noexcept : bytes_(static_cast<std::uint8_t>(bytes)) {
    TXSYNC_ASSERT_VALUE(bytes != 0 && bytes <= max_key_bytes, "a key has at least one byte, and no more than fit");
    std::memcpy(words_, text, bytes);
    running_hash all;
    for (unsigned i = 0; i < words(); ++i) all.add(words_[i]);
    all.add(bytes);
    hash_ = all.value();
  }
  /// The key is the eight bytes of a number.
  explicit item_key(std::uint64_t number) noexcept : item_key(reinterpret_cast<const char*>(&number), sizeof number) {}

  unsigned bytes() const noexcept { return bytes_; }
  unsigned words() const noexcept { return item::words_of(bytes_); }
  std::uint64_t word(unsigned index) const noexcept { return words_[index]; }
  const char* text() const noexcept { return reinterpret_cast<const char*>(words_); }
  /// For the table; items store it.
  std::uint32_t hash() const noexcept { return static_cast<std::uint32_t>(hash_); }
  /// For stripes; independent of hash().
  std::uint32_t other_hash() const noexcept { return static_cast<std::uint32_t>(hash_ >> 32); }

 private:
  std::uint64_t words_[item::words_of(max_key_bytes)] = {};
  std::uint64_t hash_ = 0;
  std::uint8_t bytes_ = 0;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads::cache

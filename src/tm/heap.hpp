// SPDX-License-Identifier: Apache-2.0
// The heap of small objects that blocks make. The C library's costs 24 bytes an object, with our mark. A list of such
// objects needs a larger cache. Here an object takes its own bytes, rounded
// up to 16, and one byte elsewhere that says whether it lives.
//
// Slots of one size lie in slabs of 64 KiB. A thread takes slots from a list of its own, and gives them back to it,
// whoever made them. Lists that grow long give a part to the other threads. Slabs are never given back to the system.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <txsync/machine/assert.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

// Sanitizers follow each object of the C library's heap, so they get that one.
#if defined(TXSYNC_SIMULATED)
inline constexpr bool has_own_heap = true;
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool has_own_heap = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
inline constexpr bool has_own_heap = false;
#else
inline constexpr bool has_own_heap = true;
#endif
#else
inline constexpr bool has_own_heap = true;
#endif

inline constexpr std::size_t slot_step = 16;
inline constexpr std::size_t max_slot_bytes = has_own_heap ? 512 : 0;

enum class life : std::uint8_t { none, living, destroyed };

/// 64 KiB, at an address that is a multiple of that: this header, a life for each slot, and the slots.
class slab {
 public:
  static constexpr std::size_t bytes = std::size_t{64} * 1'024;
  /// The slab of an object of this heap, or null for any other address.
  static slab* of(const void* object) noexcept;
  /// Requires: the object is in a slab.
  static slab& around(const void* object) noexcept {
    return *reinterpret_cast<slab*>(reinterpret_cast<std::uintptr_t>(object) & ~(bytes - 1));
  }
  explicit slab(std::uint32_t slot_bytes) noexcept;
  /// Null: no slot begins at that address.
  std::atomic<life>* life_of(const void* object) noexcept;
  std::atomic<life>& life_of_slot(const void* slot) noexcept { return lives()[index_of(slot)]; }
  unsigned size_class() const noexcept { return slot_bytes_ / slot_step - 1; }
  char* first_slot() noexcept { return reinterpret_cast<char*>(this) + first_; }
  char* end_of_slots() noexcept { return first_slot() + std::size_t{slots_} * slot_bytes_; }

 private:
  std::atomic<life>* lives() noexcept { return reinterpret_cast<std::atomic<life>*>(this + 1); }
  std::size_t offset_of(const void* slot) const noexcept {
    return static_cast<std::size_t>(static_cast<const char*>(slot) - reinterpret_cast<const char*>(this)) - first_;
  }
  /// Exact for offsets that are multiples of the slot's size: they are less than 2^16.
  std::size_t index_of(const void* slot) const noexcept { return offset_of(slot) * inverse_ >> 32; }

  std::uint32_t slot_bytes_;
  std::uint32_t slots_;
  std::uint32_t first_;    ///< bytes from the slab's beginning
  std::uint64_t inverse_;  ///< of slot_bytes_, times 2^32, rounded up
};

/// One thread's free slots.
class free_slots {
 public:
  free_slots() noexcept = default;
  free_slots(const free_slots&) = delete;
  free_slots& operator=(const free_slots&) = delete;

  /// Whether take() needs nothing of other threads, and no memory of the system.
  bool has_one(std::size_t object_bytes) const noexcept {
    const list& mine = lists_[class_of(object_bytes)];
    return mine.first != nullptr || mine.fresh != mine.end_of_fresh;
  }
  /// Memory for an object, aligned to 16 bytes, which lives from here on. Throws std::bad_alloc.
  /// Requires: bytes <= max_slot_bytes.
  void* take(std::size_t object_bytes) {
    TXSYNC_ASSERT_VALUE(object_bytes <= max_slot_bytes, "small objects have slots");
    const std::size_t which = class_of(object_bytes);
    list& mine = lists_[which];
    free_slot* const slot = mine.first;
    if (slot == nullptr) [[unlikely]]
      return take_more(mine, which);
    mine.first = slot->next;
    --mine.count;
    return begin_life(slot);
  }
  /// Requires: the object is in a slab, and no thread uses it any more.
  void give(void* object) noexcept {
    slab& of = slab::around(object);
    of.life_of_slot(object).store(life::destroyed, std::memory_order_relaxed);  // relaxed: nobody may look
    list& mine = lists_[of.size_class()];
    auto* const slot = static_cast<free_slot*>(object);
    slot->next = mine.first;
    mine.first = slot;
    if (++mine.count >= 2 * batch) [[unlikely]]
      give_batch(mine, of.size_class());
  }
  /// The same by a thread that has never run a block. Requires: the object's life has ended.
  static void give_to_all(void* object) noexcept;
  /// For explorations: none is free any more.
  void forget() noexcept;

 private:
  struct free_slot {
    free_slot* next;
    free_slot* next_batch;  ///< of the first one of a batch, which has `batch` slots, or one
  };
  struct list {
    free_slot* first = nullptr;
    std::uint32_t count = 0;
    char* fresh = nullptr;  ///< slots that were never used
    char* end_of_fresh = nullptr;
  };
  friend struct common_slots;
  static constexpr std::uint32_t batch = 64;
  static constexpr std::size_t class_count = 512 / slot_step;

  static std::size_t class_of(std::size_t object_bytes) noexcept {
    return object_bytes == 0 ? 0 : (object_bytes - 1) / slot_step;
  }
  static void* begin_life(void* slot) noexcept {
    slab::around(slot).life_of_slot(slot).store(life::living, std::memory_order_relaxed);  // relaxed: nobody knows it
    return slot;
  }
  static void* take_more(list& mine, std::size_t which);
  static void give_batch(list& mine, std::size_t which) noexcept;
  static void share(free_slot* first, std::size_t which) noexcept;

  list lists_[class_count];
};

/// In the child of a fork: what other threads held is lost.
void forget_common_slots() noexcept;
/// For explorations, after free_slots::forget() of all threads: all slabs are as new.
void renew_slabs() noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail

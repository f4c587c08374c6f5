// SPDX-License-Identifier: Apache-2.0
// The heap of small objects that blocks make. The C library's costs 24 bytes an object, with our mark. A list of such
// objects needs a larger cache. Here an object takes its own bytes, rounded
// up to 16, and one byte elsewhere that says whether it lives.
//
// Slots of one size lie in slabs of 64 KiB. A slab belongs to a thread, which takes slots of one slab before it goes on to
// the next one, so that what is made together lies together. Other threads return slots to the slab's owner. A slab
// without objects is given up, for objects of any size and any thread. Of those, a few keep their memory.
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

class free_slots;

/// 64 KiB, at an address that is a multiple of that: this header, a life for each slot, and the slots. It belongs to one
/// thread's free_slots until no object is left in it.
class slab {
 public:
  static constexpr std::size_t bytes = std::size_t{64} * 1'024;
  /// The slab of an object of this heap, or null for any other address.
  static slab* of(const void* object) noexcept;
  /// Requires: the object is in a slab.
  static slab& around(const void* object) noexcept {
    return *reinterpret_cast<slab*>(reinterpret_cast<std::uintptr_t>(object) & ~(bytes - 1));
  }
  /// One without slots.
  constexpr slab() noexcept = default;
  slab(std::uint32_t slot_bytes, free_slots& owner) noexcept;
  slab(const slab&) = delete;
  slab& operator=(const slab&) = delete;
  /// Null: no slot begins at that address.
  std::atomic<life>* life_of(const void* object) noexcept;
  std::atomic<life>& life_of_slot(const void* slot) noexcept { return lives()[index_of(slot)]; }

 private:
  friend class free_slots;
  friend struct common_rooms;
  struct free_slot {
    free_slot* next;
  };
  /// How many unused slots become free at a time. An attempt of the hardware takes only slots that are free already.
  static constexpr std::uint32_t batch = 256;

  std::size_t size_class() const noexcept { return slot_bytes_ / slot_step - 1; }
  char* slot_at(std::uint32_t index) noexcept {
    return reinterpret_cast<char*>(this) + first_ + std::size_t{index} * slot_bytes_;
  }
  std::atomic<life>* lives() noexcept { return reinterpret_cast<std::atomic<life>*>(this + 1); }
  std::size_t offset_of(const void* slot) const noexcept {
    return static_cast<std::size_t>(static_cast<const char*>(slot) - reinterpret_cast<const char*>(this)) - first_;
  }
  /// Exact for offsets that are multiples of the slot's size: they are less than 2^16.
  std::size_t index_of(const void* slot) const noexcept { return offset_of(slot) * inverse_ >> 32; }
  /// False: all slots have been used.
  bool free_unused() noexcept;
  /// Frees the slots of a list, by the owner.
  void take_back(free_slot* first) noexcept;

  std::uint32_t slot_bytes_ = 0;
  std::uint32_t slots_ = 0;
  std::uint32_t first_ = 0;    ///< bytes from the slab's beginning
  std::uint64_t inverse_ = 0;  ///< of slot_bytes_, times 2^32, rounded up
  free_slots* owner_ = nullptr;
  // For the owner.
  free_slot* free_ = nullptr;
  std::uint32_t used_ = 0;    ///< slots that were taken and have not come back
  std::uint32_t unused_ = 0;  ///< the first slot that was never free
  bool is_known_ = false;     ///< the owner's current one, or one of its list
  slab* next_ = nullptr;      ///< in that list
  slab* before_ = nullptr;
  // For others, which free slots of the owner.
  alignas(64) std::atomic<free_slot*> returned_{nullptr};
  slab* next_returned_ = nullptr;  ///< in the owner's list; by the thread that has found `returned_` empty
};

/// One thread's slabs.
class free_slots {
 public:
  free_slots() noexcept { forget(); }
  free_slots(const free_slots&) = delete;
  free_slots& operator=(const free_slots&) = delete;

  /// Whether take() needs nothing of other threads, and no memory of the system.
  bool has_one(std::size_t object_bytes) const noexcept { return current_[class_of(object_bytes)]->free_ != nullptr; }
  /// Memory for an object, aligned to 16 bytes, which lives from here on. Throws std::bad_alloc.
  /// Requires: bytes <= max_slot_bytes.
  void* take(std::size_t object_bytes) {
    TXSYNC_ASSERT_VALUE(object_bytes <= max_slot_bytes, "small objects have slots");
    const std::size_t which = class_of(object_bytes);
    slab* const from = current_[which];
    if (from->free_ == nullptr) [[unlikely]]
      return take_from(more(which));
    return take_from(*from);
  }
  /// Slots of other threads' slabs are theirs again after give_back().
  /// Requires: the object is in a slab, and no thread uses it any more.
  void give(void* object) noexcept {
    slab& of = slab::around(object);
    of.life_of_slot(object).store(life::destroyed, std::memory_order_relaxed);  // relaxed: nobody may look
    auto* const slot = static_cast<free_slot*>(object);
    if (of.owner_ != this) [[unlikely]]
      return keep_for_owner(of, slot);
    slot->next = of.free_;
    of.free_ = slot;
    if (--of.used_ == 0 || !of.is_known_) [[unlikely]]
      note_room(of);
  }
  /// Gives the slots of other threads back to them.
  void give_back() noexcept {
    if (keeps_others_) give_all_back();
  }
  /// At the thread's end: gives up the slabs without objects.
  void settle() noexcept;
  /// The same as give() by a thread that has never run a block. Requires: the object's life has ended.
  static void give_to_owner(void* object) noexcept;
  /// For explorations: none is free any more.
  void forget() noexcept;

 private:
  using free_slot = slab::free_slot;
  /// Slots of one slab of another thread.
  struct others_slots {
    slab* of = nullptr;
    free_slot* first = nullptr;
    free_slot* last = nullptr;
  };
  static constexpr std::size_t class_count = 512 / slot_step;
  static constexpr std::size_t others_count = 4;

  static std::size_t class_of(std::size_t object_bytes) noexcept {
    return object_bytes == 0 ? 0 : (object_bytes - 1) / slot_step;
  }
  static void* take_from(slab& from) noexcept {
    free_slot* const slot = from.free_;
    from.free_ = slot->next;
    ++from.used_;
    from.life_of_slot(slot).store(life::living, std::memory_order_relaxed);  // relaxed: nobody knows it
    return slot;
  }
  slab& more(std::size_t which);
  void keep_for_owner(slab& of, free_slot* slot) noexcept;
  void give_all_back() noexcept;
  static void push(slab& of, free_slot* first, free_slot* last) noexcept;
  void take_back_returned() noexcept;
  void note_room(slab& in) noexcept;
  void list(slab& one) noexcept;
  void unlist(slab& one) noexcept;

  slab* current_[class_count];         ///< never null
  slab* listed_[class_count];          ///< further ones with free slots
  others_slots others_[others_count];  ///< by the slab's address
  bool keeps_others_;
  alignas(64) std::atomic<slab*> returned_{nullptr};  ///< slabs to which other threads have returned slots
};

/// In the child of a fork: what other threads held is lost.
void forget_common_rooms() noexcept;
/// For explorations, after free_slots::forget() of all threads: all slabs are as new.
void renew_slabs() noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail

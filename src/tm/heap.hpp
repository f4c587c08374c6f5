// SPDX-License-Identifier: Apache-2.0
// The heap of small objects that blocks make. The C library's costs 24 bytes an object, with our mark. A list of such
// objects needs a larger cache. Here an object takes its own bytes, rounded
// up to 16, and one byte elsewhere that says whether it lives.
//
// Slots of one size lie in slabs of 64 KiB. A slab belongs to a thread. The thread takes slots of one slab before it goes
// on to the next one. So what is made together lies together. Other threads return slots to the slab's owner. A slab
// without objects is given up, for objects of any size and any thread. Of those, a few keep their memory.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <txsync/machine/assert.hpp>

#include "tm/rooms.hpp"

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
/// Of objects in the system's memory; larger ones are the C library's. The divided memory has larger slots, and whole
/// rooms.
inline constexpr std::size_t max_slot_bytes = has_own_heap ? 512 : 0;

/// Where objects lie: in the system's memory, or in the divided memory, for the blocks of a class.
using heap_area = unsigned;
inline constexpr heap_area system_area = 0;
inline constexpr unsigned max_memory_classes = 8;
constexpr heap_area area_of_class(unsigned memory_class) noexcept { return 1 + memory_class % max_memory_classes; }
constexpr room_source source_of(heap_area area) noexcept {
  return area == system_area ? room_source::system : room_source::divided;
}

/// The sizes of slots: multiples of 16 up to 512, then powers of two.
namespace slot_sizes {
inline constexpr std::size_t small_count = 512 / slot_step;
inline constexpr std::size_t max_bytes = 8'192;
inline constexpr std::size_t count = small_count + 4;
/// At most max_bytes.
constexpr std::size_t index_of(std::size_t bytes) noexcept {
  if (bytes <= 512) return bytes == 0 ? 0 : (bytes - 1) / slot_step;
  return small_count + static_cast<std::size_t>(std::bit_width((bytes - 1) / 1'024));
}
constexpr std::size_t bytes_at(std::size_t index) noexcept {
  return index < small_count ? (index + 1) * slot_step : std::size_t{1'024} << (index - small_count);
}
static_assert(bytes_at(index_of(max_bytes)) == max_bytes && index_of(max_bytes) == count - 1);
static_assert(bytes_at(index_of(513)) == 1'024 && bytes_at(index_of(1'025)) == 2'048);
}  // namespace slot_sizes

enum class life : std::uint8_t { none, living, destroyed };

class free_slots;

/// A room: this header, a life for each slot, and the slots. It belongs to one thread's free_slots until no object is
/// left in it. One object that needs several rooms is a slab without an owner.
class slab {
 public:
  static constexpr std::size_t bytes = room_bytes;
  /// The slab of an object of this heap, or null for any other address.
  static slab* of(const void* object) noexcept { return is_in_room(object) ? &around(object) : nullptr; }
  /// Requires: the object is in a slab.
  static slab& around(const void* object) noexcept {
    return *reinterpret_cast<slab*>(reinterpret_cast<std::uintptr_t>(object) & ~(bytes - 1));
  }
  /// One without slots.
  constexpr slab() noexcept = default;
  slab(std::size_t slot_bytes, heap_area area, free_slots& owner) noexcept;
  /// For one object that has that many rooms.
  explicit slab(std::uint32_t rooms) noexcept;
  slab(const slab&) = delete;
  slab& operator=(const slab&) = delete;
  /// Null: no slot begins at that address.
  std::atomic<life>* life_of(const void* object) noexcept;
  std::atomic<life>& life_of_slot(const void* slot) noexcept { return lives()[index_of(slot)]; }

 private:
  friend class free_slots;
  struct free_slot {
    free_slot* next;
  };
  char* slot_at(std::uint32_t index) noexcept {
    return reinterpret_cast<char*>(this) + first_ + std::size_t{index} * slot_bytes_;
  }
  std::atomic<life>* lives() noexcept { return reinterpret_cast<std::atomic<life>*>(this + 1); }
  std::size_t offset_of(const void* slot) const noexcept {
    return static_cast<std::size_t>(static_cast<const char*>(slot) - reinterpret_cast<const char*>(this)) - first_;
  }
  /// Exact for offsets that are multiples of the slot's size: they are less than 2^16.
  std::size_t index_of(const void* slot) const noexcept { return offset_of(slot) * inverse_ >> 32; }
  bool has_room() const noexcept { return free_ != nullptr || unused_ != slots_; }
  void* take() noexcept {
    free_slot* const slot = free_;
    void* const taken = slot != nullptr ? slot : static_cast<void*>(slot_at(unused_++));
    if (slot != nullptr) free_ = slot->next;
    ++used_;
    life_of_slot(taken).store(life::living, std::memory_order_relaxed);  // relaxed: nobody knows it
    return taken;
  }
  /// Frees the slots of a list, by the owner.
  void take_back(free_slot* first) noexcept;

  std::uint32_t slot_bytes_ = 0;
  std::uint32_t slots_ = 0;
  std::uint32_t first_ = 0;       ///< bytes from the slab's beginning
  std::uint64_t inverse_ = 0;     ///< of slot_bytes_, times 2^32, rounded up
  std::uint16_t size_index_ = 0;  ///< of slot_sizes
  std::uint16_t area_ = system_area;
  std::uint32_t rooms_ = 1;
  free_slots* owner_ = nullptr;
  // For the owner.
  free_slot* free_ = nullptr;
  std::uint32_t used_ = 0;    ///< slots that were taken and have not come back
  std::uint32_t unused_ = 0;  ///< the first slot that was never used
  bool is_known_ = false;     ///< the owner's current one, or one of its list
  slab* next_ = nullptr;      ///< in that list
  slab* before_ = nullptr;
  // For others, which free slots of the owner.
  alignas(64) std::atomic<free_slot*> returned_{nullptr};
  slab* next_returned_ = nullptr;  ///< in the owner's list; by the thread that has found `returned_` empty
};

/// Of lists that have none.
extern constinit slab without_slots;

/// One thread's slabs.
class free_slots {
 public:
  free_slots() noexcept;
  free_slots(const free_slots&) = delete;
  free_slots& operator=(const free_slots&) = delete;

  /// Whether take() needs nothing of other threads, and no memory of the system.
  bool has_one(std::size_t object_bytes, heap_area area = system_area) const noexcept {
    return object_bytes <= slot_sizes::max_bytes &&
           areas_[area]->current[slot_sizes::index_of(object_bytes)]->has_room();
  }
  /// Memory for an object, aligned to 16 bytes, which lives from here on. Null: there is none. Objects of two areas
  /// share no room.
  /// Requires: in the system's memory, bytes <= slot_sizes::max_bytes.
  void* take(std::size_t object_bytes, heap_area area = system_area) noexcept {
    TXSYNC_ASSERT_VALUE(object_bytes <= slot_sizes::max_bytes || area != system_area,
                        "in the system's memory, objects have slots");
    if (object_bytes > slot_sizes::max_bytes) [[unlikely]]
      return take_whole_rooms(object_bytes);
    slab* from = areas_[area]->current[slot_sizes::index_of(object_bytes)];
    if (!from->has_room()) [[unlikely]] {
      from = more(object_bytes, area);
      if (from == nullptr) return nullptr;
    }
    return from->take();
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
  /// The slabs of one area, by the sizes of their slots.
  struct area_slabs {
    slab* current[slot_sizes::count] = {};  ///< never null
    slab* listed[slot_sizes::count] = {};   ///< further ones with free slots
    constexpr area_slabs() noexcept {
      for (slab*& one : current) one = &without_slots;
    }
  };
  static area_slabs unused_area;  ///< of all threads, for areas in which they have made nothing
  static constexpr std::size_t area_count = 1 + max_memory_classes;
  static constexpr std::size_t others_count = 4;

  static void* take_whole_rooms(std::size_t object_bytes) noexcept;
  slab* more(std::size_t object_bytes, heap_area area) noexcept;
  void keep_for_owner(slab& of, free_slot* slot) noexcept;
  void give_all_back() noexcept;
  static void push(slab& of, free_slot* first, free_slot* last) noexcept;
  void take_back_returned() noexcept;
  void note_room(slab& in) noexcept;
  static void give_up(slab& empty) noexcept;
  void list(slab& one) noexcept;
  void unlist(slab& one) noexcept;

  bool has_area(heap_area area) noexcept;
  area_slabs& area_of(const slab& one) noexcept { return *areas_[one.area_]; }

  area_slabs* areas_[area_count];
  area_slabs system_slabs_;
  others_slots others_[others_count];  ///< by the slab's address
  bool keeps_others_;
  alignas(64) std::atomic<slab*> returned_{nullptr};  ///< slabs to which other threads have returned slots
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail

// SPDX-License-Identifier: Apache-2.0
#include "tm/heap.hpp"

#include <cstring>
#include <memory>
#include <new>

#include <txsync/machine/memory.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

constinit slab without_slots;

namespace {
constexpr std::size_t line = 64;
constexpr std::uint32_t first_after(std::size_t lives) noexcept {
  return static_cast<std::uint32_t>((sizeof(slab) + lives * sizeof(life) + line - 1) & ~(line - 1));
}
}  // namespace

slab::slab(std::size_t slot_bytes, heap_area area, free_slots& owner) noexcept
    : slot_bytes_(static_cast<std::uint32_t>(slot_bytes)),
      inverse_((std::uint64_t{1} << 32) / slot_bytes + 1),
      size_index_(static_cast<std::uint16_t>(slot_sizes::index_of(slot_bytes))),
      area_(static_cast<std::uint16_t>(area)),
      owner_(&owner) {
  slots_ = static_cast<std::uint32_t>((bytes - sizeof(slab) - line) / (slot_bytes + sizeof(life)));
  first_ = first_after(slots_);
  TXSYNC_ASSERT(first_ + slots_ * slot_bytes_ <= bytes, "the slots fit into the slab");
  std::memset(static_cast<void*>(lives()), 0, slots_ * sizeof(life));  // of a renewed one
}

slab::slab(std::uint32_t rooms) noexcept
    : slot_bytes_(rooms * static_cast<std::uint32_t>(bytes)),
      slots_(1),
      first_(first_after(1)),
      inverse_(0),
      area_(area_of_class(0)),
      rooms_(rooms) {
  lives()[0].store(life::living, std::memory_order_relaxed);  // relaxed: nobody knows it
}

void* free_slots::take_whole_rooms(std::size_t object_bytes) noexcept {
  const std::size_t rooms = (object_bytes + first_after(1) + room_bytes - 1) / room_bytes;
  constexpr std::size_t max_rooms = ~std::uint32_t{0} / room_bytes;
  void* const first = rooms <= max_rooms ? take_rooms(rooms) : nullptr;
  return first != nullptr ? (new (first) slab(static_cast<std::uint32_t>(rooms)))->slot_at(0) : nullptr;
}

std::atomic<life>* slab::life_of(const void* object) noexcept {
  const auto at = static_cast<std::size_t>(static_cast<const char*>(object) - reinterpret_cast<const char*>(this));
  if (slots_ == 0 || at < first_ || (at - first_) % slot_bytes_ != 0 || (at - first_) / slot_bytes_ >= slots_)
    return nullptr;
  return &life_of_slot(object);
}

void slab::take_back(free_slot* first) noexcept {
  while (first != nullptr) {
    free_slot* const next = first->next;
    first->next = free_;
    free_ = first;
    --used_;
    first = next;
  }
}

constinit free_slots::area_slabs free_slots::unused_area;

free_slots::free_slots() noexcept {
  areas_[system_area] = &system_slabs_;
  for (std::size_t i = 1; i < area_count; ++i) areas_[i] = &unused_area;
  forget();
}

/// False: there is no memory for its lists.
bool free_slots::has_area(heap_area area) noexcept {
  if (areas_[area] != &unused_area) return true;
  void* const memory = machine::map_pages(max_memory_classes * sizeof(area_slabs));
  if (memory == nullptr) return false;
  auto* const made = static_cast<area_slabs*>(memory);
  for (unsigned i = 0; i < max_memory_classes; ++i) areas_[area_of_class(i)] = new (&made[i]) area_slabs;
  return true;
}

[[gnu::noinline]] slab* free_slots::more(std::size_t object_bytes, heap_area area) noexcept {
  take_back_returned();
  const std::size_t which = slot_sizes::index_of(object_bytes);
  slab* const last = areas_[area]->current[which];
  if (last->has_room()) return last;
  slab* next = areas_[area]->listed[which];
  if (next != nullptr) {
    unlist(*next);
  } else {
    void* const room = take_room(source_of(area));
    if (room == nullptr) return nullptr;
    next = new (room) slab(slot_sizes::bytes_at(which), area, *this);
    if (!has_area(area)) return give_up(*next), nullptr;
  }
  next->is_known_ = true;
  if (last != &without_slots) last->is_known_ = false;
  areas_[area]->current[which] = next;
  return next;
}

void free_slots::list(slab& one) noexcept {
  slab*& first = area_of(one).listed[one.size_index_];
  one.next_ = first;
  one.before_ = nullptr;
  if (first != nullptr) first->before_ = &one;
  first = &one;
  one.is_known_ = true;
}

void free_slots::unlist(slab& one) noexcept {
  if (one.next_ != nullptr) one.next_->before_ = one.before_;
  (one.before_ != nullptr ? one.before_->next_ : area_of(one).listed[one.size_index_]) = one.next_;
  one.is_known_ = false;
}

/// A slot of the slab has become free.
[[gnu::noinline]] void free_slots::note_room(slab& in) noexcept {
  if (&in == area_of(in).current[in.size_index_]) return;
  if (in.used_ != 0) {
    if (!in.is_known_) list(in);
    return;
  }
  if (in.is_known_) unlist(in);
  give_up(in);
}

void free_slots::give_up(slab& empty) noexcept {
  TXSYNC_ASSERT(empty.used_ == 0 && empty.returned_.load(std::memory_order_relaxed) == nullptr,
                "a slab that is given up has no objects");
  give_up_room(source_of(empty.area_), &empty);
}

[[gnu::noinline]] void free_slots::keep_for_owner(slab& of, free_slot* slot) noexcept {
  if (of.owner_ == nullptr) return give_up_rooms(&of, of.rooms_);
  others_slots& kept = others_[reinterpret_cast<std::uintptr_t>(&of) / slab::bytes % others_count];
  if (kept.of != &of) {
    if (kept.of != nullptr) push(*kept.of, kept.first, kept.last);
    kept = {&of, nullptr, slot};
  }
  slot->next = kept.first;
  kept.first = slot;
  keeps_others_ = true;
}

void free_slots::give_all_back() noexcept {
  keeps_others_ = false;
  for (others_slots& kept : others_) {
    if (kept.of != nullptr) push(*kept.of, kept.first, kept.last);
    kept = {};
  }
}

/// A thread that returns the first slot of a slab also tells the owner. Until it has done so, the owner does not look at
/// the slab's `returned_`.
void free_slots::push(slab& of, free_slot* first, free_slot* last) noexcept {
  free_slots& owner = *of.owner_;  // before the push: afterwards the slab may be given up
  free_slot* before = of.returned_.load(std::memory_order_relaxed);
  do last->next = before;
  // release pairs with the acquire in take_back_returned(); acquire with the release there: it has read `next_returned_`
  while (!of.returned_.compare_exchange_weak(before, first, std::memory_order_acq_rel, std::memory_order_relaxed));
  if (before != nullptr) return;
  slab* top = owner.returned_.load(std::memory_order_relaxed);
  do of.next_returned_ = top;
  while (!owner.returned_.compare_exchange_weak(top, &of, std::memory_order_release, std::memory_order_relaxed));
}

void free_slots::take_back_returned() noexcept {
  if (returned_.load(std::memory_order_relaxed) == nullptr) return;
  slab* one = returned_.exchange(nullptr, std::memory_order_acquire);  // pairs with push()
  while (one != nullptr) {
    slab* const next = one->next_returned_;
    one->take_back(one->returned_.exchange(nullptr, std::memory_order_acq_rel));  // pairs with push()
    note_room(*one);
    one = next;
  }
}

void free_slots::give_to_owner(void* object) noexcept {
  slab& of = slab::around(object);
  TXSYNC_ASSERT(of.life_of_slot(object).load(std::memory_order_relaxed) == life::destroyed,
                "the object's life has ended");
  if (of.owner_ == nullptr) return give_up_rooms(&of, of.rooms_);
  auto* const slot = static_cast<free_slot*>(object);
  push(of, slot, slot);
}

void free_slots::settle() noexcept {
  give_back();
  take_back_returned();
  for (area_slabs* const area : areas_) {
    if (area == &unused_area) return;  // so are those behind it
    for (slab*& one : area->current) {
      if (one->used_ != 0 || one == &without_slots) continue;
      give_up(*one);
      one = &without_slots;
    }
  }
}

void free_slots::forget() noexcept {
  for (area_slabs* const area : areas_) {
    if (area != &unused_area) std::construct_at(area);
  }
  for (others_slots& one : others_) one = {};
  keeps_others_ = false;
  returned_.store(nullptr, std::memory_order_relaxed);  // relaxed: there is one thread
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail

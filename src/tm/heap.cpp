// SPDX-License-Identifier: Apache-2.0
#include "tm/heap.hpp"

#include <cstring>
#include <memory>
#include <new>
#include <txsync/locks/futex_mutex.hpp>
#include <txsync/machine/memory.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace {

constexpr std::size_t chunk_bytes = 16 * slab::bytes;  // mapped at a time

// Which addresses are slabs: a bit for each 64 KiB of the lower 256 TiB, in leaves for 4 GiB each.
constexpr unsigned slab_shift = 16;
constexpr unsigned leaf_shift = 32;
constexpr unsigned address_bits = 48;
struct leaf {
  std::atomic<std::uint64_t> bits[(std::size_t{1} << (leaf_shift - slab_shift)) / 64];
};
/// Zero, and touched as it is used. The union keeps the compiler from looking at each pointer.
union zeroed_leaves {
  constexpr zeroed_leaves() noexcept : nothing(0) {}
  char nothing;
  std::atomic<leaf*> all[std::size_t{1} << (address_bits - leaf_shift)];
};
constinit zeroed_leaves leaves;

struct place_of_bit {
  std::size_t word;
  std::uint64_t mask;
  explicit place_of_bit(std::uintptr_t address) noexcept {
    const std::uintptr_t index = (address >> slab_shift) % (std::uintptr_t{1} << (leaf_shift - slab_shift));
    word = index / 64;
    mask = std::uint64_t{1} << index % 64;
  }
};

}  // namespace

/// Room for slabs, for all threads.
struct common_rooms {
  static constexpr unsigned max_kept = 64;
  futex_mutex guard;  // without a site, whose samples would make schedules differ
  /// Slabs that were given up. Those behind the first `kept` ones have memory for their first page only.
  slab* free TXSYNC_GUARDED_BY(guard) = nullptr;
  unsigned kept TXSYNC_GUARDED_BY(guard) = 0;
  char* chunk TXSYNC_GUARDED_BY(guard) = nullptr;  ///< never used
  char* end_of_chunk TXSYNC_GUARDED_BY(guard) = nullptr;
  // The first rooms, for explorations. Those from next_known on are as new.
  static constexpr unsigned max_known = 64;
  char* known[max_known] TXSYNC_GUARDED_BY(guard) = {};
  unsigned known_count TXSYNC_GUARDED_BY(guard) = 0;
  unsigned next_known TXSYNC_GUARDED_BY(guard) = 0;

  /// Null: the system has no memory.
  char* take_room() TXSYNC_REQUIRES(guard) {
    if (chunk == end_of_chunk) {
      void* const mapped = machine::map_pages(chunk_bytes + slab::bytes);
      if (mapped == nullptr) return nullptr;
      chunk =
          reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(mapped) + slab::bytes - 1) & ~(slab::bytes - 1));
      end_of_chunk = chunk + chunk_bytes;
    }
    char* const taken = chunk;
    chunk += slab::bytes;
    return taken;
  }
  /// False: there is no memory for that, or the address is one of those that this heap does not use.
  static bool note(const char* room) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(room);
    if (address >> address_bits != 0) return false;
    std::atomic<leaf*>& top = leaves.all[address >> leaf_shift];
    leaf* found = top.load(std::memory_order_relaxed);  // relaxed: changes only under the guard
    if (found == nullptr) {
      void* const memory = machine::map_pages(sizeof(leaf));
      if (memory == nullptr) return false;
      found = new (memory) leaf;
      top.store(found, std::memory_order_release);  // pairs with the acquire in slab::of()
    }
    const place_of_bit bit(address);
    // relaxed: a thread that looks for it has been given an object of it
    found->bits[bit.word].fetch_or(bit.mask, std::memory_order_relaxed);
    return true;
  }
  /// A place for a slab that was never used. Null: there is no memory.
  char* find_room() TXSYNC_REQUIRES(guard) {
    char* const room = take_room();
    if (room == nullptr || !note(room)) return nullptr;
    if (known_count < max_known) known[known_count++] = room;
    return room;
  }
  /// Null: there is no memory.
  char* take() TXSYNC_REQUIRES(guard) {
    if (free != nullptr) {
      slab* const first = free;
      free = first->next_;
      if (kept != 0) --kept;
      return reinterpret_cast<char*>(first);
    }
    if (next_known < known_count) return known[next_known++];
    char* const room = find_room();
    next_known = known_count;
    return room;
  }
  slab* make_slab(std::size_t which, free_slots& owner) {
    guard.lock();
    char* const room = take();
    guard.unlock();
    return room != nullptr ? new (room) slab(static_cast<std::uint32_t>((which + 1) * slot_step), owner) : nullptr;
  }
  /// Requires: no object is in the slab.
  void give_up(slab& empty) noexcept {
    TXSYNC_ASSERT(empty.used_ == 0 && empty.returned_.load(std::memory_order_relaxed) == nullptr,
                  "a slab that is given up has no objects");
    empty.slots_ = 0;  // no object begins there any more
    const std::size_t page = machine::page_size();
    guard.lock();
    slab** at = &free;
    if (kept < max_kept) {
      ++kept;
    } else {
      machine::discard_pages(reinterpret_cast<char*>(&empty) + page, slab::bytes - page);
      for (unsigned i = 0; i < kept; ++i) at = &(*at)->next_;
    }
    empty.next_ = *at;
    *at = &empty;
    guard.unlock();
  }
};

namespace {
constinit common_rooms common;
constinit slab without_slots;
}  // namespace

slab* slab::of(const void* object) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(object);
  if (!has_own_heap || address >> address_bits != 0) return nullptr;
  // acquire pairs with the release in note()
  const leaf* const found = leaves.all[address >> leaf_shift].load(std::memory_order_acquire);
  if (found == nullptr) return nullptr;
  const place_of_bit bit(address);
  const std::uint64_t seen = found->bits[bit.word].load(std::memory_order_relaxed);  // relaxed: as in note()
  return (seen & bit.mask) != 0 ? &around(object) : nullptr;
}

slab::slab(std::uint32_t slot_bytes, free_slots& owner) noexcept
    : slot_bytes_(slot_bytes), inverse_((std::uint64_t{1} << 32) / slot_bytes + 1), owner_(&owner) {
  constexpr std::size_t line = 64;
  slots_ = static_cast<std::uint32_t>((bytes - sizeof(slab) - line) / (slot_bytes + sizeof(life)));
  first_ = static_cast<std::uint32_t>((sizeof(slab) + slots_ * sizeof(life) + line - 1) & ~(line - 1));
  TXSYNC_ASSERT(first_ + slots_ * slot_bytes_ <= bytes, "the slots fit into the slab");
  std::memset(static_cast<void*>(lives()), 0, slots_ * sizeof(life));  // of a renewed one
}

std::atomic<life>* slab::life_of(const void* object) noexcept {
  const auto at = static_cast<std::size_t>(static_cast<const char*>(object) - reinterpret_cast<const char*>(this));
  if (slots_ == 0 || at < first_ || (at - first_) % slot_bytes_ != 0 || (at - first_) / slot_bytes_ >= slots_)
    return nullptr;
  return &life_of_slot(object);
}

bool slab::free_unused() noexcept {
  if (unused_ == slots_) return false;
  const std::uint32_t end = slots_ - unused_ > batch ? unused_ + batch : slots_;
  for (std::uint32_t i = end; i-- > unused_;) free_ = new (slot_at(i)) free_slot{free_};
  unused_ = end;
  return true;
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

[[gnu::noinline]] slab& free_slots::more(std::size_t which) {
  take_back_returned();
  slab* const last = current_[which];
  if (last->free_ != nullptr || last->free_unused()) return *last;
  slab* next = listed_[which];
  if (next != nullptr) {
    unlist(*next);
  } else {
    next = common.make_slab(which, *this);
    if (next == nullptr) throw std::bad_alloc();
  }
  next->is_known_ = true;
  if (last != &without_slots) last->is_known_ = false;
  current_[which] = next;
  if (next->free_ == nullptr) next->free_unused();
  return *next;
}

void free_slots::list(slab& one) noexcept {
  slab*& first = listed_[one.size_class()];
  one.next_ = first;
  one.before_ = nullptr;
  if (first != nullptr) first->before_ = &one;
  first = &one;
  one.is_known_ = true;
}

void free_slots::unlist(slab& one) noexcept {
  if (one.next_ != nullptr) one.next_->before_ = one.before_;
  (one.before_ != nullptr ? one.before_->next_ : listed_[one.size_class()]) = one.next_;
  one.is_known_ = false;
}

/// A slot of the slab has become free.
[[gnu::noinline]] void free_slots::note_room(slab& in) noexcept {
  if (&in == current_[in.size_class()]) return;
  if (in.used_ != 0) {
    if (!in.is_known_) list(in);
    return;
  }
  if (in.is_known_) unlist(in);
  common.give_up(in);
}

[[gnu::noinline]] void free_slots::keep_for_owner(slab& of, free_slot* slot) noexcept {
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
  // release pairs with the acquire in take_back_returned()
  while (!of.returned_.compare_exchange_weak(before, first, std::memory_order_release, std::memory_order_relaxed));
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
    one->take_back(one->returned_.exchange(nullptr, std::memory_order_acquire));  // pairs with push()
    note_room(*one);
    one = next;
  }
}

void free_slots::give_to_owner(void* object) noexcept {
  slab& of = slab::around(object);
  TXSYNC_ASSERT(of.life_of_slot(object).load(std::memory_order_relaxed) == life::destroyed,
                "the object's life has ended");
  auto* const slot = static_cast<free_slot*>(object);
  push(of, slot, slot);
}

void free_slots::settle() noexcept {
  give_back();
  take_back_returned();
  for (slab*& one : current_) {
    if (one->used_ != 0 || one == &without_slots) continue;
    common.give_up(*one);
    one = &without_slots;
  }
}

void free_slots::forget() noexcept {
  for (slab*& one : current_) one = &without_slots;
  for (slab*& one : listed_) one = nullptr;
  for (others_slots& one : others_) one = {};
  keeps_others_ = false;
  returned_.store(nullptr, std::memory_order_relaxed);  // relaxed: there is one thread
}

void renew_slabs() noexcept TXSYNC_UNCHECKED {  // there is one thread
  constexpr unsigned enough = 24;               // so that no schedule maps memory
  std::construct_at(&common.guard);
  common.free = nullptr;
  common.kept = 0;
  common.next_known = 0;
  while (common.known_count < enough && common.find_room() != nullptr) {
  }
}

void forget_common_rooms() noexcept TXSYNC_UNCHECKED {  // there is one thread
  std::construct_at(&common.guard);
  common.free = nullptr;
  common.kept = 0;
  common.chunk = common.end_of_chunk = nullptr;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail

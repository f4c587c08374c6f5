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

/// What the lists of all threads share.
struct common_slots {
  futex_mutex guard;  // without a site, whose samples would make schedules differ
  free_slots::free_slot* batches[free_slots::class_count] TXSYNC_GUARDED_BY(guard) = {};
  char* chunk TXSYNC_GUARDED_BY(guard) = nullptr;  ///< room for further slabs
  char* end_of_chunk TXSYNC_GUARDED_BY(guard) = nullptr;
  // The first slabs, for explorations. Those from next_known on are as new.
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
  slab* make_slab(std::size_t which) TXSYNC_REQUIRES(guard) {
    if (next_known < known_count) return slab_at(known[next_known++], which);
    char* const room = find_room();
    next_known = known_count;
    return room != nullptr ? slab_at(room, which) : nullptr;
  }
  static slab* slab_at(char* room, std::size_t which) noexcept {
    return new (room) slab(static_cast<std::uint32_t>((which + 1) * slot_step));
  }
};

namespace {
constinit common_slots common;
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

slab::slab(std::uint32_t slot_bytes) noexcept
    : slot_bytes_(slot_bytes), inverse_((std::uint64_t{1} << 32) / slot_bytes + 1) {
  constexpr std::size_t line = 64;
  slots_ = static_cast<std::uint32_t>((bytes - sizeof(slab) - line) / (slot_bytes + sizeof(life)));
  first_ = static_cast<std::uint32_t>((sizeof(slab) + slots_ * sizeof(life) + line - 1) & ~(line - 1));
  TXSYNC_ASSERT(first_ + slots_ * slot_bytes_ <= bytes, "the slots fit into the slab");
  std::memset(static_cast<void*>(lives()), 0, slots_ * sizeof(life));  // of a renewed one
}

std::atomic<life>* slab::life_of(const void* object) noexcept {
  const auto at = static_cast<std::size_t>(static_cast<const char*>(object) - reinterpret_cast<const char*>(this));
  if (at < first_ || (at - first_) % slot_bytes_ != 0 || (at - first_) / slot_bytes_ >= slots_) return nullptr;
  return &life_of_slot(object);
}

[[gnu::noinline]] void* free_slots::take_more(list& mine, std::size_t which) {
  if (mine.fresh == mine.end_of_fresh) {
    common.guard.lock();
    free_slot* const others = common.batches[which];
    slab* made = nullptr;
    if (others != nullptr) {
      common.batches[which] = others->next_batch;
    } else {
      made = common.make_slab(which);
    }
    common.guard.unlock();
    if (others != nullptr) {
      mine.first = others->next;
      mine.count = others->next != nullptr ? batch - 1 : 0;
      return begin_life(others);
    }
    if (made == nullptr) throw std::bad_alloc();
    mine.fresh = made->first_slot();
    mine.end_of_fresh = made->end_of_slots();
  }
  char* const slot = mine.fresh;
  mine.fresh += (which + 1) * slot_step;
  return begin_life(slot);
}

[[gnu::noinline]] void free_slots::give_batch(list& mine, std::size_t which) noexcept {
  free_slot* const first = mine.first;
  free_slot* last = first;
  for (std::uint32_t i = 1; i < batch; ++i) last = last->next;
  mine.first = last->next;
  mine.count -= batch;
  last->next = nullptr;
  share(first, which);
}

void free_slots::share(free_slot* first, std::size_t which) noexcept {
  common.guard.lock();
  first->next_batch = common.batches[which];
  common.batches[which] = first;
  common.guard.unlock();
}

void free_slots::give_to_all(void* object) noexcept {
  TXSYNC_ASSERT(slab::around(object).life_of_slot(object).load(std::memory_order_relaxed) == life::destroyed,
                "the object's life has ended");
  auto* const slot = static_cast<free_slot*>(object);
  slot->next = nullptr;
  share(slot, slab::around(object).size_class());
}

void free_slots::forget() noexcept {
  for (list& one : lists_) one = {};
}

void renew_slabs() noexcept TXSYNC_UNCHECKED {  // there is one thread
  constexpr unsigned enough = 24;               // so that no schedule maps memory
  std::construct_at(&common.guard);
  for (auto& one : common.batches) one = nullptr;
  common.next_known = 0;
  while (common.known_count < enough && common.find_room() != nullptr) {
  }
}

void forget_common_slots() noexcept TXSYNC_UNCHECKED {  // there is one thread
  std::construct_at(&common.guard);
  for (auto& one : common.batches) one = nullptr;
  common.chunk = common.end_of_chunk = nullptr;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail

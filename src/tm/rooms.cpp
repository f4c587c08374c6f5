// SPDX-License-Identifier: Apache-2.0
#include "tm/rooms.hpp"

#include <atomic>
#include <cstring>
#include <memory>
#include <new>

#include <txsync/locks/futex_mutex.hpp>
#include <txsync/machine/memory.hpp>

#include "tm/partition/pages.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace {

constexpr std::size_t chunk_bytes = 16 * room_bytes;  // mapped at a time
constexpr unsigned max_kept = 64;                     // spare rooms with their memory, of each source

// Which addresses are in rooms: a bit for each 64 KiB of the lower 256 TiB, in leaves for 4 GiB each.
constexpr unsigned room_shift = 16;
constexpr unsigned leaf_shift = 32;
constexpr unsigned address_bits = 48;
struct leaf {
  std::atomic<std::uint64_t> bits[(std::size_t{1} << (leaf_shift - room_shift)) / 64];
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
    const std::uintptr_t index = (address >> room_shift) % (std::uintptr_t{1} << (leaf_shift - room_shift));
    word = index / 64;
    mask = std::uint64_t{1} << index % 64;
  }
};

/// By one thread at a time. False: there is no memory for that, or the address is one of those that this heap does not
/// use.
bool note(std::uintptr_t address) noexcept {
  if (address >> address_bits != 0) return false;
  std::atomic<leaf*>& top = leaves.all[address >> leaf_shift];
  leaf* found = top.load(std::memory_order_relaxed);  // relaxed: changes only here
  if (found == nullptr) {
    void* const memory = machine::map_pages(sizeof(leaf));
    if (memory == nullptr) return false;
    found = new (memory) leaf;
    top.store(found, std::memory_order_release);  // pairs with the acquire in is_in_room()
  }
  const place_of_bit bit(address);
  // relaxed: a thread that looks for it has been given an object of it
  found->bits[bit.word].fetch_or(bit.mask, std::memory_order_relaxed);
  return true;
}

/// By one thread at a time; it was noted.
void forget(std::uintptr_t address) noexcept {
  const place_of_bit bit(address);
  // relaxed, both: changes only here
  leaves.all[address >> leaf_shift]
      .load(std::memory_order_relaxed)
      ->bits[bit.word]
      .fetch_and(~bit.mask, std::memory_order_relaxed);
}

/// Rooms of the system's memory that were never taken.
struct new_rooms {
  char* chunk = nullptr;
  char* end_of_chunk = nullptr;
  // The first ones, for explorations. Those from next_known on are as new.
  static constexpr unsigned max_known = 64;
  char* known[max_known] = {};
  unsigned known_count = 0;
  unsigned next_known = 0;

  /// Null: the system has no memory.
  char* cut() noexcept {
    if (chunk == end_of_chunk) {
      void* const mapped = machine::map_pages(chunk_bytes + room_bytes);
      if (mapped == nullptr) return nullptr;
      chunk = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(mapped) + room_bytes - 1) & ~(room_bytes - 1));
      end_of_chunk = chunk + chunk_bytes;
    }
    char* const taken = chunk;
    chunk += room_bytes;
    return taken;
  }
  char* find() noexcept {
    char* const room = cut();
    if (room == nullptr || !note(reinterpret_cast<std::uintptr_t>(room))) return nullptr;
    if (known_count < max_known) known[known_count++] = room;
    return room;
  }
  char* take() noexcept {
    if (next_known < known_count) return known[next_known++];
    char* const room = find();
    next_known = known_count;
    return room;
  }
};

/// The divided memory: which of its rooms are used.
struct divided_rooms {
  std::uintptr_t begin = 0;
  std::size_t count = 0;
  std::uint64_t* bits = nullptr;
  std::size_t first_free = 0;  ///< those before are used
  std::size_t used = 0;

  void* address_of(std::size_t room) const noexcept { return reinterpret_cast<void*>(begin + room * room_bytes); }
  bool is_taken(std::size_t room) const noexcept { return (bits[room / 64] >> room % 64 & 1) != 0; }
  void mark(std::size_t room, std::size_t rooms, bool is_used) noexcept {
    for (std::size_t i = room; i < room + rooms; ++i) {
      const std::uint64_t mask = std::uint64_t{1} << i % 64;
      bits[i / 64] = is_used ? bits[i / 64] | mask : bits[i / 64] & ~mask;
    }
  }
  /// The first rooms that lie beside each other; `count` if there are none.
  std::size_t find(std::size_t wanted) noexcept {
    while (first_free < count && is_taken(first_free)) ++first_free;
    std::size_t free = 0;
    for (std::size_t i = first_free; i < count; ++i) {
      free = is_taken(i) ? 0 : free + 1;
      if (free == wanted) return i + 1 - wanted;
    }
    return count;
  }
  void* take(std::size_t wanted) noexcept {
    const std::size_t room = find(wanted);
    if (room == count || !note(begin + room * room_bytes)) return nullptr;
    mark(room, wanted, true);
    used += wanted;
    return address_of(room);
  }
  void give_up(void* first, std::size_t rooms) noexcept {
    forget(reinterpret_cast<std::uintptr_t>(first));
    const std::size_t room = (reinterpret_cast<std::uintptr_t>(first) - begin) / room_bytes;
    mark(room, rooms, false);
    used -= rooms;
    if (room < first_free) first_free = room;
  }
};

constinit futex_mutex guard;  // without a site, whose samples would make schedules differ
constinit new_rooms fresh TXSYNC_GUARDED_BY(guard);
constinit divided_rooms divided TXSYNC_GUARDED_BY(guard);

/// Of one source. Those behind the first `kept` ones have memory for their first page only.
struct spare_rooms {
  spare_room* first = nullptr;
  unsigned kept = 0;

  spare_room* take() noexcept {
    spare_room* const one = first;
    if (one == nullptr) return nullptr;
    first = one->next;
    if (kept != 0) --kept;
    return one;
  }
  void add(spare_room* one) noexcept {
    one->next = first;
    first = one;
    ++kept;
  }
  void add_behind_kept(spare_room* one) noexcept {
    spare_room** at = &first;
    for (unsigned i = 0; i < kept; ++i) at = &(*at)->next;
    one->next = *at;
    *at = one;
  }
};
constinit spare_rooms spare[2] TXSYNC_GUARDED_BY(guard);

class TXSYNC_SCOPED_CAPABILITY guarded {
 public:
  guarded() noexcept TXSYNC_ACQUIRE(guard) { guard.lock(); }
  guarded(const guarded&) = delete;
  guarded& operator=(const guarded&) = delete;
  ~guarded() TXSYNC_RELEASE() { guard.unlock(); }
};

spare_rooms& spare_of(room_source which) noexcept TXSYNC_REQUIRES(guard) {
  return spare[which == room_source::divided ? 1 : 0];
}

}  // namespace

void* take_room(room_source from) noexcept {
  {
    const guarded held;
    spare_room* const one = spare_of(from).take();
    if (one != nullptr) return one;
    if (from == room_source::system) return fresh.take();
  }
  return take_rooms(1);
}

void give_up_room(room_source to, void* room) noexcept {
  auto* const one = new (room) spare_room;
  {
    const guarded held;
    if (spare_of(to).kept < max_kept) return spare_of(to).add(one);
  }
  if (to == room_source::divided) return give_up_rooms(room, 1);
  const std::size_t page = machine::page_size();
  machine::discard_pages(static_cast<char*>(room) + page, room_bytes - page);
  const guarded held;
  spare_of(to).add_behind_kept(one);
}

void* take_rooms(std::size_t count) noexcept {
  void* taken;
  {
    const guarded held;
    taken = divided.take(count);
  }
  if (taken != nullptr) heap_pages.prepare(taken, count * room_bytes);
  return taken;
}

void give_up_rooms(void* first, std::size_t count) noexcept {
  machine::discard_pages(first, count * room_bytes);
  const guarded held;
  divided.give_up(first, count);
}

std::size_t used_divided_rooms() noexcept {
  const guarded held;
  return divided.used;
}

std::size_t copy_divided_rooms(void* into, std::size_t max) noexcept {
  const guarded held;
  std::size_t copied = 0;
  for (std::size_t i = 0; i < divided.count && copied < max; ++i) {
    if (divided.is_taken(i))
      std::memcpy(static_cast<char*>(into) + copied++ * room_bytes, divided.address_of(i), room_bytes);
  }
  return copied;
}

void restore_divided_rooms(const void* from, std::size_t count) noexcept TXSYNC_UNCHECKED {  // there is one thread
  for (std::size_t i = 0, restored = 0; i < divided.count && restored < count; ++i) {
    if (!divided.is_taken(i)) continue;
    void* const room = divided.address_of(i);
    std::memcpy(room, static_cast<const char*>(from) + restored++ * room_bytes, room_bytes);
    machine::populate_pages(static_cast<char*>(room) + heap_pages.views.distance, room_bytes);
  }
}

bool is_in_room(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (at >> address_bits != 0) return false;
  // acquire pairs with the release in note()
  const leaf* const found = leaves.all[at >> leaf_shift].load(std::memory_order_acquire);
  if (found == nullptr) return false;
  const place_of_bit bit(at);
  return (found->bits[bit.word].load(std::memory_order_relaxed) & bit.mask) != 0;  // relaxed: as in note()
}

bool divide_rooms(std::uintptr_t begin, std::size_t bytes) noexcept {
  const guarded held;
  TXSYNC_ASSERT(divided.count == 0 && begin % room_bytes == 0, "memory is divided once, at a room");
  const std::size_t count = bytes / room_bytes;
  void* const bits = machine::map_pages((count + 63) / 64 * sizeof(std::uint64_t));  // zeroed pages are bits
  if (bits == nullptr) return false;
  divided = {begin, count, static_cast<std::uint64_t*>(bits)};
  return true;
}

void forget_rooms() noexcept TXSYNC_UNCHECKED {  // there is one thread
  std::construct_at(&guard);
  for (spare_rooms& one : spare) one = {};
  fresh.chunk = fresh.end_of_chunk = nullptr;
}

void renew_rooms() noexcept TXSYNC_UNCHECKED {  // there is one thread
  constexpr unsigned enough = 24;               // so that no schedule maps memory
  std::construct_at(&guard);
  for (spare_rooms& one : spare) one = {};
  fresh.next_known = 0;
  while (fresh.known_count < enough && fresh.find() != nullptr) {
  }
  for (std::size_t i = 0; i < (divided.count + 63) / 64; ++i) divided.bits[i] = 0;
  divided.first_free = divided.used = 0;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail

// SPDX-License-Identifier: Apache-2.0
// Memory of the heap of objects that blocks make, in rooms of 64 KiB, each at a multiple of that. They come from the
// system, or from the memory that dmp divides (partition/pages.hpp). Rooms that were given up serve again. A few of them
// keep their memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include <txsync/machine/assert.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

inline constexpr std::size_t room_bytes = std::size_t{64} * 1'024;

/// A room that nobody uses. The rest of it has any contents.
struct spare_room {
  std::uint64_t zero = 0;  ///< what is there of a slab says that it has no slots
  spare_room* next = nullptr;
};

enum class room_source : bool { system, divided };

/// Null: there is none. Thread-safe.
void* take_room(room_source from) noexcept;
/// Nobody uses it any more, and it was taken from there.
void give_up_room(room_source to, void* room) noexcept;
/// Rooms of the divided memory that lie beside each other. Null: there are none. Thread-safe.
void* take_rooms(std::size_t count) noexcept;
void give_up_rooms(void* first, std::size_t count) noexcept;

std::size_t used_divided_rooms() noexcept;
/// Copies all used rooms of the divided memory, one behind the other. Returns how many; at most `max`.
std::size_t copy_divided_rooms(void* into, std::size_t max) noexcept;
/// In the child of a fork: copies them back.
void restore_divided_rooms(const void* from, std::size_t count) noexcept;

/// Whether the address is in a room that was ever taken.
bool is_in_room(const void* address) noexcept;

/// From now on there is divided memory. Requires: there was none; `begin` is at a room. False: the system has no memory
/// for its records.
[[nodiscard]] bool divide_rooms(std::uintptr_t begin, std::size_t bytes) noexcept;

/// In the child of a fork: rooms that nobody used are lost.
void forget_rooms() noexcept;
/// For explorations, while no object is in use: all rooms are as new.
void renew_rooms() noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail

// SPDX-License-Identifier: Apache-2.0
// The layout of a simulated program's process. Everything that the program can touch is below program_end: its image
// (static, not position-independent), its heap, and the stacks and thread-local data of its threads. The runtime's
// metadata is far above, at places computed from the address, so that no look-up needs a hash.
#pragma once

#include <cstddef>
#include <cstdint>

namespace txsync::sim {

inline constexpr std::uintptr_t arena_begin = std::uintptr_t{4} << 30;
inline constexpr std::uintptr_t program_end = std::uintptr_t{16} << 30;
/// How many bits the number of a line needs that the program can touch. Lines have at least 16 bytes.
inline constexpr unsigned program_line_bits = 34 - 4;
/// The stack of each of the program's threads. Its lowest page is never usable.
inline constexpr std::size_t stack_bytes = std::size_t{256} << 10;
inline constexpr unsigned max_threads = 2048;
/// The end of the arena holds the stacks.
inline constexpr std::uintptr_t stacks_begin = program_end - stack_bytes * max_threads;
inline constexpr std::uintptr_t arena_end = stacks_begin;

/// Memory that is mapped twice (mapped.cpp) has a second address, so far above the first one. The numbers of all lines
/// cover less memory. So a byte is on the same line by both addresses. All that the runtime keeps of memory belongs to
/// the first address, but for the records of pages.
inline constexpr std::uintptr_t second_view_distance = std::uintptr_t{64} << 40;
constexpr bool is_in_second_view(std::uintptr_t address) noexcept {
  return address - second_view_distance < program_end;
}
constexpr std::uintptr_t first_address_of(std::uintptr_t address) noexcept {
  return is_in_second_view(address) ? address - second_view_distance : address;
}

inline constexpr std::uintptr_t records_begin = std::uintptr_t{1} << 40;  ///< line records (shadow.hpp)
inline constexpr std::uintptr_t pages_begin = std::uintptr_t{2} << 40;    ///< page records
inline constexpr std::uintptr_t image_begin = std::uintptr_t{3} << 40;  ///< the oracle's image of the program's memory
inline constexpr std::uintptr_t known_begin = std::uintptr_t{4} << 40;  ///< which bytes of the image are known
inline constexpr std::uintptr_t granules_begin = std::uintptr_t{5} << 40;  ///< who uses memory (program_steps.hpp)

/// What has no place of its own. The program holds some of these addresses, and a replay shows them: they are the same in
/// every run.
inline constexpr std::uintptr_t elsewhere_begin = std::uintptr_t{16} << 40;

/// Reserves zeroed pages at `address` (after what was reserved before if that is 0), which take no memory until touched.
/// Ends the program with a sentence if the system refuses.
void* reserve(std::uintptr_t address, std::size_t bytes, const char* what) noexcept;

/// Zeroed memory of the arena for the program. Ends the program if the arena is full.
std::uintptr_t take_from_arena(std::size_t bytes, std::size_t alignment) noexcept;
/// Returns zeroed memory that is no longer used, to be taken again. Parts that were never taken are left out.
void give_to_arena(std::uintptr_t address, std::size_t bytes) noexcept;
/// Marks a range at an address that the program has chosen as used, whether it was given back before or not.
void keep_in_arena(std::uintptr_t address, std::size_t bytes) noexcept;

/// A list that grows in reserved memory, because the runtime does not use the program's allocator.
template <class T>
class growing_list {
 public:
  void reserve_for(std::size_t most, const char* what) noexcept {
    if (items_ != nullptr) return;
    items_ = static_cast<T*>(reserve(0, most * sizeof(T), what));
    capacity_ = most;
  }
  /// False if the list is full.
  bool push(const T& item) noexcept {
    if (size_ == capacity_) return false;
    items_[size_++] = item;
    return true;
  }
  T& operator[](std::size_t index) noexcept { return items_[index]; }
  T& back() noexcept { return items_[size_ - 1]; }
  void shrink(std::size_t size) noexcept { size_ = size; }
  std::size_t size() const noexcept { return size_; }
  bool full() const noexcept { return size_ == capacity_; }
  void clear() noexcept { size_ = 0; }
  T* begin() noexcept { return items_; }
  T* end() noexcept { return items_ + size_; }

 private:
  T* items_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace txsync::sim

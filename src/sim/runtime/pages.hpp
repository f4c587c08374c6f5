// SPDX-License-Identifier: Apache-2.0
// What the model knows about pages: whether they were touched, their sockets, and their rights.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fiber.hpp"
#include "layout.hpp"
#include "state.hpp"

namespace txsync::sim {

enum class rights : std::uint8_t { read_write, read, none };

/// Which addresses the memory of a page has.
enum class views : std::uint8_t { first, both, second };

/// A page, by one of its addresses. Zeros: it was not touched yet.
struct page_record {
  std::uint8_t home_plus_one;  ///< by the first address: the socket that has touched the memory first; 0: none
  bool is_touched;             ///< by this address
  rights allowed;              ///< by this address
  views mapped;                ///< by the first address
};

void set_up_pages() noexcept;
inline std::uint64_t page_number(std::uintptr_t address) noexcept { return address >> state.page_shift; }
inline page_record& page_of(std::uintptr_t address) noexcept {
  return reinterpret_cast<page_record*>(pages_begin)[page_number(address)];
}

/// Memory gets a second address. To be called before the first access there.
void add_second_view(std::uintptr_t address, std::size_t bytes) noexcept;
inline bool has_second_view(std::uintptr_t first_address) noexcept {
  return page_of(first_address).mapped != views::first;
}

/// The fault of a page's first touch. Does not return if it ends the thread's attempt.
void touch_first(thread_record& thread, std::uintptr_t address) noexcept;

/// Called before an access that the filter does not answer: the fault of a first touch, and address translation.
inline void enter_page(thread_record& thread, std::uintptr_t address) noexcept {
  if (__builtin_expect(!page_of(address).is_touched, 0)) touch_first(thread, address);
  thread.time += state.memory.cores[cpu_of(thread).core].tlb.look_up(page_number(address)) * thread.cycle;
}

/// For an access that costs nothing: marks its pages as touched by the running thread. No effect outside the
/// simulation.
void touch_uncharged(std::uintptr_t address, std::size_t bytes) noexcept;

/// The first address that may not be accessed in this way; 0 if all may be.
std::uintptr_t first_refused(std::uintptr_t address, std::size_t bytes, bool write) noexcept;

/// Called before an access is looked at. If it is not allowed, the thread's attempt ends, or the program's handler of
/// SIGSEGV runs until it is. Others may run meanwhile. Ends the simulation if there is no handler.
void settle_rights(thread_record& thread, std::uintptr_t address, std::size_t bytes, bool write) noexcept;

/// Called before rights are taken away, or with rights::none the pages themselves. Each other core that runs the
/// program is told by an interrupt, which ends its attempts. If an interrupt has no price (page.shootdown), only
/// attempts that have a line there end.
void shoot_down(thread_record& self, std::uintptr_t address, std::size_t bytes, rights allowed) noexcept;

/// Sets the pages' rights from now on, without cost. Filters forget what they relied on.
void set_rights(std::uintptr_t address, std::size_t bytes, rights allowed) noexcept;

/// The next access of each of these addresses is the first one.
void forget_touches(std::uintptr_t address, std::size_t bytes) noexcept;

/// Pages that are given back count as untouched again.
void forget_pages(std::uintptr_t address, std::size_t bytes) noexcept;

}  // namespace txsync::sim

// SPDX-License-Identifier: Apache-2.0
// What the model knows of pages: touched or not, of which socket, with which rights.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fiber.hpp"
#include "layout.hpp"
#include "state.hpp"

namespace txsync::sim {

enum class rights : std::uint8_t { read_write, read, none };

struct page_record {
  std::uint8_t home_plus_one;  ///< the socket of the first touch; 0: not yet touched
  rights allowed;
};

void set_up_pages() noexcept;
inline std::uint64_t page_number(std::uintptr_t address) noexcept { return address >> state.page_shift; }
inline page_record& page_of(std::uintptr_t address) noexcept {
  return reinterpret_cast<page_record*>(pages_begin)[page_number(address)];
}

/// The fault of a page's first touch. Does not return when it ends the thread's attempt.
void touch_first(thread_record& thread, std::uintptr_t address) noexcept;

/// Before an access outside what the filter answers: the fault of a first touch, and translation.
inline void enter_page(thread_record& thread, std::uintptr_t address) noexcept {
  if (__builtin_expect(page_of(address).home_plus_one == 0, 0)) touch_first(thread, address);
  thread.time += state.memory.cores[cpu_of(thread).core].tlb.look_up(page_number(address)) * thread.cycle;
}

/// What there is to do for an access that costs nothing: its pages are touched, by the running thread. Nothing outside
/// the simulation.
void touch_uncharged(std::uintptr_t address, std::size_t bytes) noexcept;

/// The first address that may not be accessed in this way; 0: all may be.
std::uintptr_t first_refused(std::uintptr_t address, std::size_t bytes, bool write) noexcept;

/// Before an access is looked at: where it may not be, the thread's attempt ends, or the program's handler of SIGSEGV
/// runs until it may. Others may run meanwhile. Ends the simulation where there is no handler.
void settle_rights(thread_record& thread, std::uintptr_t address, std::size_t bytes, bool write) noexcept;

/// Before rights go, or with rights::none the pages themselves: each other core that runs the program is told by an
/// interrupt, which ends its attempts; where that has no price (page.shootdown), attempts that hold something there.
void shoot_down(thread_record& self, std::uintptr_t address, std::size_t bytes, rights allowed) noexcept;

/// Without cost: the pages' rights from now on. Filters forget what they relied on.
void set_rights(std::uintptr_t address, std::size_t bytes, rights allowed) noexcept;

/// Pages that are given back are untouched again.
void forget_pages(std::uintptr_t address, std::size_t bytes) noexcept;

}  // namespace txsync::sim

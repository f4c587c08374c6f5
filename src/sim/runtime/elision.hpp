// SPDX-License-Identifier: Apache-2.0
// Lock elision by prefix (XACQUIRE, XRELEASE; Intel SDM vol. 1, 16.3.3). The store to the lock is never made. Others
// keep seeing the lock as it was, while the eliding thread sees what it would have stored. The program's loads go to
// memory directly. So the value inside is in memory exactly while that thread runs.
#pragma once

#include "fiber.hpp"

namespace txsync::sim {

/// The operand of an instruction with a prefix (a word of 1, 2, 4 or 8 bytes), and the program's code.
struct elision_word {
  std::uintptr_t address;
  unsigned bytes;
  std::uintptr_t code;
};
/// An exchange with XACQUIRE and a store with XRELEASE. Each acquire is one level of nesting and each release ends one,
/// in any order, also for locks beyond those that the CPU can remember. The last release commits if each lock is as it
/// was (SDM vol. 2, XACQUIRE/XRELEASE, operation).
std::uint64_t acquire_by_prefix(const elision_word& word, std::uint64_t value) noexcept;
void release_by_prefix(const elision_word& word, std::uint64_t value) noexcept;

void show_elided_locks(thread_record& thread) noexcept;
void hide_elided_locks(thread_record& thread) noexcept;

}  // namespace txsync::sim

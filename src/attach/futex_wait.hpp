// SPDX-License-Identifier: Apache-2.0
// What a thread waits for that sleeps in the kernel's futex call: which kind of object, where it lies, and who has it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "attach/code_names.hpp"
#include "attach/target.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::attach {

enum class wait_kind : std::uint8_t { mutex, rwlock, condition, semaphore, barrier, join, once, futex };
const char* to_string(wait_kind kind) noexcept;

struct futex_wait {
  std::uint64_t word = 0;      ///< that the kernel watches
  int operation = 0;           ///< FUTEX_WAIT, ... without its flags
  std::uint32_t expected = 0;  ///< the value at which the thread went to sleep
};

/// Empty where the call is no wait for a futex.
std::optional<futex_wait> futex_wait_in(const blocked_call& call) noexcept;

/// By the names of the innermost calls. "futex" where they name nothing of the C library: a lock of the program's own,
/// or a C library without symbols.
wait_kind kind_of(std::span<const named_frame> calls);

/// What is known of the object behind a wait.
struct waited_object {
  wait_kind kind = wait_kind::futex;
  std::uint64_t address = 0;  ///< of the object; of the word where the kind is unknown
  int owner = 0;              ///< inner number of the thread that has it; 0: nobody, or unknown
  std::uint32_t readers = 0;  ///< of a reader-writer lock: threads that have it for reading; their numbers are unknown
};

/// Reads the object in the process' memory, as glibc lays it out (2.25 and later). An owner that is none of `threads`
/// is not believed. A mutex is also recognised by its word and owner where the calls say nothing.
waited_object object_of(const target& of, const futex_wait& wait, wait_kind by_calls, std::span<const task> threads);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::attach

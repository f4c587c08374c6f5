// SPDX-License-Identifier: Apache-2.0
// How large the frames of calls are, as unwinding saw them. A walk up the stack without unwinding needs that. Only on
// processors where a call leaves its return address right below the caller's frame (x86-64).
#pragma once

#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

/// Forgets everything: code was unloaded, and other code may get these addresses.
void forget_frames() noexcept;

/// Receives each frame that an unwinding passes, the innermost first.
class stack_reader {
 public:
  /// The return address of a frame, and where the frame that it called ends.
  void met(std::uintptr_t address, std::uintptr_t end_of_called) noexcept;
  /// The calling thread's walks may go where this unwinding went. The range is this library's code.
  void finish(std::uintptr_t own_begin, std::uintptr_t own_end) noexcept;

 private:
  std::uintptr_t last_address_ = 0;
  std::uintptr_t last_slot_ = 0;  // where that address lies; 0: not known
  std::uintptr_t lowest_ = 0;
  std::uintptr_t highest_ = 0;
  bool is_one_stack_ = true;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

// SPDX-License-Identifier: Apache-2.0
// Where the caller of a function finds its registers, by the tables that compilers write for exceptions and debuggers.
// The tables are .eh_frame (Linux Standard Base, Core, "Exception Frames"). Their instructions are those of DWARF 4,
// section 6.4. libgcc's code does not serve here, for two reasons. It reads instructions at addresses for which it
// finds no table; the bottom of a coroutine's stack may name no mapped address. And it takes 3 KB of a stack that may
// be 16 KB long.
#pragma once

#include <cstddef>
#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

/// The registers that a callee saves, with the stack pointer and the return address. Others are not tracked.
class kept_registers {
 public:
#if defined(__x86_64__)
  static constexpr std::uint8_t numbers[] = {3, 6, 12, 13, 14, 15, 7, 16};  // DWARF's: rbx, rbp, r12 to r15, rsp, rip
  static constexpr std::uint32_t stack_pointer = 7;
#elif defined(__aarch64__)
  static constexpr std::uint8_t numbers[] = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 31, 30};
  static constexpr std::uint32_t stack_pointer = 31;
#else
#error "the preloaded library is built for x86-64 and AArch64 only"
#endif
  static constexpr std::size_t count = sizeof numbers;
  static constexpr std::size_t return_address = count - 1;
  static constexpr std::size_t none = count;
  /// The index of DWARF's number; none: it is not tracked.
  static constexpr std::size_t index_of(std::uint64_t number) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      if (numbers[i] == number) return i;
    }
    return none;
  }

  std::uintptr_t values[count] = {};
};

/// One function on the stack.
struct stack_frame {
  std::uintptr_t address = 0;   ///< where it continues
  bool is_interrupted = false;  ///< it was interrupted there, and has made no call
  kept_registers registers;     ///< its own, without the return address
};

/// Finds the frame that called `frame`, or was interrupted by it. `canonical` is DWARF's canonical frame address of the
/// called frame, after its return address. The caller knows it for the first frame, and passes 0 for others. False:
/// there is no such frame, or no table says where it is. Reads the stack only where a table says that a register was
/// saved.
bool find_caller(stack_frame& frame, std::uintptr_t& canonical) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

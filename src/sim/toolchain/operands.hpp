// SPDX-License-Identifier: Apache-2.0
// What an instruction of x86-64 does to memory and to registers that hold addresses, from the text of its operands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "object_file.hpp"

namespace txsync::sim::toolchain {

using register_set = std::uint32_t;
register_set register_bit(std::string_view name);  // of any width; 0 if it is not a general register
extern const register_set preserved_registers;     // across a call: rbx, rbp, rsp, r12-r15

struct memory_operand {
  std::string segment, base, index;  // registers with their %; empty: none
  std::int64_t displacement = 0;
  bool is_written = false;

  bool operator==(const memory_operand&) const = default;
  bool in(register_set frame) const;
  // Whether both may be parts of one object of `bytes` bytes.
  bool is_near(const memory_operand& other, int bytes) const;
};

// The accesses of an instruction. They include the implicit ones of string instructions, and calls and jumps through
// memory, but not those of push, pop and call to the stack.
std::vector<memory_operand> memory_operands(const instruction& here);

// The symbol of the instruction's relocation, without its addend.
std::string_view relocated_symbol(const instruction& here);

// Follows copies of the frame's addresses from register to register.
void track_frame(const instruction& here, register_set& frame);

// Why the simulated machine cannot run this instruction; nullptr if it can.
const char* unfit_instruction(const instruction& here);

}  // namespace txsync::sim::toolchain

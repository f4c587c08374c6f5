// SPDX-License-Identifier: Apache-2.0
// Registers as the kernel gives them, by the numbers that DWARF has for them. The only file that knows processors.
#pragma once

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "attach/thread_state.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::attach {

#if defined(__x86_64__)
using machine_registers = user_regs_struct;
inline constexpr unsigned stack_register = 7;
inline std::uint64_t stack_of(const machine_registers& all) { return all.rsp; }
inline void put_registers(const machine_registers& all, thread_state& into) {
  into.code = all.rip;
  into.registers = {{0, all.rax},  {1, all.rdx},  {2, all.rcx},  {3, all.rbx}, {4, all.rsi},  {5, all.rdi},
                    {6, all.rbp},  {7, all.rsp},  {8, all.r8},   {9, all.r9},  {10, all.r10}, {11, all.r11},
                    {12, all.r12}, {13, all.r13}, {14, all.r14}, {15, all.r15}};
}
#elif defined(__aarch64__)
using machine_registers = user_regs_struct;
inline constexpr unsigned stack_register = 31;
inline std::uint64_t stack_of(const machine_registers& all) { return all.sp; }
inline void put_registers(const machine_registers& all, thread_state& into) {
  into.code = all.pc;
  into.registers.clear();
  for (unsigned i = 0; i < 31; ++i) into.registers.emplace_back(i, all.regs[i]);
  into.registers.emplace_back(stack_register, all.sp);
}
#else
// Calls are not unwound here: no register is known.
struct machine_registers {
  std::uint64_t none = 0;
};
inline constexpr unsigned stack_register = 0;
inline std::uint64_t stack_of(const machine_registers&) { return 0; }
inline void put_registers(const machine_registers&, thread_state&) {}
#endif

/// Requires: the calling thread has stopped it. False: errno says why.
inline bool read_registers(int thread, machine_registers& into) {
  iovec where{&into, sizeof into};
  return ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &where) == 0;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::attach

// SPDX-License-Identifier: Apache-2.0
// POWER's Transaction Exception And Summary Register (Power ISA 2.07, book II, 5.4), translated to attempt_status. Pure
// arithmetic, so its test runs on any machine.
#pragma once

#include <cstdint>

#include <txsync/machine/attempt.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

/// Bit `n` of the register in IBM's numbering, where 0 is the highest.
constexpr bool texasr_bit(std::uint64_t texasr, unsigned n) noexcept { return ((texasr >> (63 - n)) & 1) != 0; }

/// Linux also ends transactions itself. The register then has a code of Linux (asm/tm.h) in place of the program's.
/// Returns 0 for other codes.
constexpr std::uint32_t status_of_kernel_code(std::uint8_t code) noexcept {
  switch (code & 0xFE) {
    case 0xDE:  // reschedule
    case 0xE0:  // reschedule, by the hypervisor
    case 0xDC:  // translations invalidated
      return attempt_status::interrupt_bit;
    case 0xD8:
      return attempt_status::syscall_bit;
    case 0xD4:  // signal
      return attempt_status::interrupt_bit;
    case 0xDA:  // a facility (floating point, vectors) was switched off
    case 0xE2:
    case 0xD2:  // alignment
    case 0xD0:  // emulated instruction
    case 0xD6:
      return attempt_status::fault_bit;
    default:
      return 0;
  }
}

constexpr attempt_status status_from_texasr(std::uint64_t texasr) noexcept {
  const auto code = static_cast<std::uint8_t>(texasr >> 56);
  const bool persistent = texasr_bit(texasr, 7);
  std::uint32_t status = 0;
  if (texasr_bit(texasr, 31)) {  // tabort., by the program or by the kernel
    const std::uint32_t by_kernel = status_of_kernel_code(code);
    if (by_kernel == 0) return attempt_status{attempt_status::explicit_bit | std::uint32_t{code} << 24};
    status |= by_kernel;
  }
  if (texasr_bit(texasr, 8)) status |= attempt_status::unfriendly_bit;
  if (texasr_bit(texasr, 9)) status |= attempt_status::nested_bit;
  if (texasr_bit(texasr, 10)) status |= attempt_status::capacity_bit;
  // 11 self-induced, 12 with a plain access, 13 with a transaction, 14 translation, 16 instruction fetch
  for (const unsigned conflict : {11u, 12u, 13u, 14u, 16u}) {
    if (texasr_bit(texasr, conflict)) status |= attempt_status::conflict_bit;
  }
  if (!persistent) status |= attempt_status::retry_bit;
  return attempt_status{status};
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail

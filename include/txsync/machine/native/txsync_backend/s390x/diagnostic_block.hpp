// SPDX-License-Identifier: Apache-2.0
// The transaction diagnostic block of z/Architecture (Principles of Operation, chapter 5, "Transaction Diagnostic
// Block"), translated to attempt_status. Pure arithmetic, so its test runs on any machine.
#pragma once

#include <cstdint>

#include <txsync/machine/attempt.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

struct alignas(8) diagnostic_block {
  std::uint8_t format;  ///< 1 if the machine has filled it in
  std::uint8_t flags;
  std::uint8_t reserved[4];
  std::uint16_t nesting_depth;
  std::uint64_t abort_code;
  std::uint8_t rest[240];
};
static_assert(sizeof(diagnostic_block) == 256);

inline constexpr unsigned first_program_code = 256;  ///< abort codes from here on are TABORT's
inline constexpr unsigned transient = 2;             ///< the condition code of an abort that may be tried again

constexpr std::uint32_t status_of_machine_code(std::uint64_t code) noexcept {
  switch (code) {
    case 2:  // external interruption
    case 5:  // machine check
    case 6:  // I/O
      return attempt_status::interrupt_bit;
    case 4:   // program interruption
    case 12:  // the same, filtered
      return attempt_status::fault_bit;
    case 7:   // fetch overflow
    case 14:  // cache, fetch
      return attempt_status::capacity_bit | attempt_status::capacity_read_bit;
    case 8:   // store overflow
    case 15:  // cache, store
      return attempt_status::capacity_bit | attempt_status::capacity_write_bit;
    case 16:  // cache, other
      return attempt_status::capacity_bit;
    case 9:   // fetch conflict
    case 10:  // store conflict
      return attempt_status::conflict_bit;
    case 11:  // restricted instruction; SUPERVISOR CALL is one
      return attempt_status::unfriendly_bit;
    case 13:
      return attempt_status::nested_bit;
    default:
      return 0;
  }
}

constexpr attempt_status status_from_block(const diagnostic_block& block, unsigned condition) noexcept {
  const std::uint32_t retry = condition == transient ? attempt_status::retry_bit : 0;
  if (block.format != 1) return attempt_status{retry};
  if (block.abort_code >= first_program_code) {
    const auto code = static_cast<std::uint8_t>(block.abort_code - first_program_code);
    return attempt_status{attempt_status::explicit_bit | std::uint32_t{code} << 24};
  }
  return attempt_status{status_of_machine_code(block.abort_code) | retry};
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail

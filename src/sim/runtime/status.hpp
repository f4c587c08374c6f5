// SPDX-License-Identifier: Apache-2.0
// The status word that the program gets for the cause of an abort. The layout of the status is
// machine::attempt_status's, which the seam's virtual back end checks.
#pragma once

#include <cstdint>

#include "../protocol.hpp"

namespace txsync::sim {

inline constexpr std::uint32_t started = ~std::uint32_t{0};
inline constexpr std::uint32_t explicit_bit = 1u << 0;
inline constexpr std::uint32_t retry_bit = 1u << 1;
inline constexpr std::uint32_t conflict_bit = 1u << 2;
inline constexpr std::uint32_t capacity_bit = 1u << 3;
inline constexpr std::uint32_t nested_bit = 1u << 5;
inline constexpr std::uint32_t capacity_read_bit = 1u << 8;
inline constexpr std::uint32_t capacity_write_bit = 1u << 9;
inline constexpr std::uint32_t interrupt_bit = 1u << 10;
inline constexpr std::uint32_t syscall_bit = 1u << 11;
inline constexpr std::uint32_t fault_bit = 1u << 12;
inline constexpr std::uint32_t unfriendly_bit = 1u << 13;
inline constexpr std::uint32_t spurious_bit = 1u << 14;

/// Whose status words a machine uses. The values are those of the model's precise_status.
enum class status_words : std::uint8_t {
  rtm,      ///< EAX after XBEGIN (Intel SDM vol. 1, 16.3.5): says nothing of interrupts, faults and system calls
  precise,  ///< everything that the machine knows
  texasr,   ///< POWER's register (Power ISA 2.07, book II, 5.4) as Linux leaves it, translated as the seam does
};

/// TEXASR has neither the direction of an overflow nor the depth of a conflict, but a bit for failures that would
/// repeat. Linux writes its own codes (asm/tm.h): reschedule 0xDE, signal 0xD4, system call 0xD8 and persistent.
constexpr std::uint32_t status_by_texasr(cause why, std::uint8_t code) noexcept {
  switch (why) {
    case cause::conflict:
      return conflict_bit | retry_bit;
    case cause::capacity_read:
    case cause::capacity_write:
      return capacity_bit;
    case cause::explicit_abort:
    case cause::lock_busy:
      return explicit_bit | std::uint32_t{code} << 24;
    case cause::nested:
      return nested_bit;
    case cause::interrupt:
    case cause::fault:  // an access violation: a signal
      return interrupt_bit | retry_bit;
    case cause::syscall:
      return syscall_bit;
    case cause::unfriendly_instruction:
      return unfriendly_bit;
    case cause::spurious:
      return retry_bit;
    case cause::always:
      return 0;
  }
  return 0;
}

/// What begin returns after an abort.
constexpr std::uint32_t status_of(cause why, std::uint8_t code, bool was_nested, status_words whose) noexcept {
  if (whose == status_words::texasr) return status_by_texasr(why, code);
  const std::uint32_t nested_too = was_nested ? nested_bit : 0;
  const std::uint32_t more = whose == status_words::precise ? ~std::uint32_t{0} : 0;
  switch (why) {
    case cause::conflict:
      return conflict_bit | retry_bit | nested_too;
    case cause::capacity_read:
      return capacity_bit | (capacity_read_bit & more) | nested_too;
    case cause::capacity_write:
      return capacity_bit | (capacity_write_bit & more) | nested_too;
    case cause::explicit_abort:
    case cause::lock_busy:
      return explicit_bit | std::uint32_t{code} << 24 | nested_too;
    case cause::nested:
      return nested_bit;
    case cause::interrupt:
      return interrupt_bit & more;
    case cause::syscall:
      return syscall_bit & more;
    case cause::fault:
      return fault_bit & more;
    case cause::unfriendly_instruction:
      return unfriendly_bit & more;
    case cause::spurious:
      return (spurious_bit & more) | retry_bit;
    case cause::always:
      return 0;
  }
  return 0;
}

}  // namespace txsync::sim

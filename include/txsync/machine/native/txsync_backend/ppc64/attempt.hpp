// SPDX-License-Identifier: Apache-2.0
// POWER8's transactional memory (Power ISA 2.07, book II, chapter 5; withdrawn in 3.1). The assembler is told the
// machine for these instructions only, so that one binary serves every CPU.
#pragma once

#include <txsync_backend/facility.hpp>
#include <txsync_backend/plain_hle.hpp>
#include <txsync_backend/ppc64/texasr.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace detail {

// Condition register field 0, in the top bits of mfocrf's result.
inline constexpr std::uint64_t begin_failed_bit = 1u << 29;
inline constexpr unsigned transaction_state_shift = 29;  // after tcheck: 0 none, 1 suspended, 2 transactional

inline std::uint64_t read_texasr() noexcept {
  std::uint64_t texasr;
  asm volatile("mfspr %0, 130" : "=r"(texasr)::"memory");
  return texasr;
}

}  // namespace detail

inline attempt_status begin() noexcept {
  std::uint64_t condition;
  // After a failure, execution continues after the instruction, with all registers as they were and the second bit of
  // the condition set.
  asm volatile(".machine push\n\t.machine power8\n\ttbegin. 0\n\tmfocrf %0, 0x80\n\t.machine pop"
               : "=r"(condition)::"cr0", "memory");
  if ((condition & detail::begin_failed_bit) == 0) return attempt_status{attempt_status::started_value};
  return detail::status_from_texasr(detail::read_texasr());
}

inline void end() noexcept {
  asm volatile(".machine push\n\t.machine power8\n\ttend. 0\n\t.machine pop" ::: "cr0", "memory");
}

inline unsigned depth() noexcept {
  if (!detail::has_facility()) return 0;
  std::uint64_t condition;
  asm volatile(".machine push\n\t.machine power8\n\ttcheck 0\n\tmfocrf %0, 0x80\n\t.machine pop"
               : "=r"(condition)::"cr0", "memory");
  if (((condition >> detail::transaction_state_shift) & 3) == 0) return 0;
  return static_cast<unsigned>(detail::read_texasr() & 0xFFF);  // the transaction level
}

inline bool active() noexcept { return depth() != 0; }

template <std::uint8_t Code>
inline void abort() noexcept {
  if (!active()) return;
  const std::uint64_t code = Code;
  asm volatile(".machine push\n\t.machine power8\n\ttabort. %0\n\t.machine pop" ::"b"(code) : "cr0", "memory");
}

inline void suspend() noexcept {
  if (!detail::has_facility()) return;
  asm volatile(".machine push\n\t.machine power8\n\ttsr. 0\n\t.machine pop" ::: "cr0", "memory");
}

inline void resume() noexcept {
  if (!detail::has_facility()) return;
  asm volatile(".machine push\n\t.machine power8\n\ttsr. 1\n\t.machine pop" ::: "cr0", "memory");
}

inline attempt_status begin_rollback_only() noexcept {
  if (!detail::has_facility()) return attempt_status{0};
  std::uint64_t condition;
  asm volatile(".machine push\n\t.machine power8\n\ttbegin. 1\n\tmfocrf %0, 0x80\n\t.machine pop"
               : "=r"(condition)::"cr0", "memory");
  if ((condition & detail::begin_failed_bit) == 0) return attempt_status{attempt_status::started_value};
  return detail::status_from_texasr(detail::read_texasr());
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

#include <txsync_backend/warm.hpp>

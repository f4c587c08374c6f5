// SPDX-License-Identifier: Apache-2.0
// z/Architecture's transactional execution (Principles of Operation, chapter 5; not on machines after z16). The
// instructions are given as opcodes, so that one binary serves every CPU.
#pragma once

#include <txsync_backend/facility.hpp>
#include <txsync_backend/plain_hle.hpp>
#include <txsync_backend/s390x/diagnostic_block.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace detail {
/// Where an abort of this thread's attempt leaves its reason.
TXSYNC_EXPORT extern constinit thread_local diagnostic_block last_abort;
}  // namespace detail

inline attempt_status begin() noexcept {
  detail::diagnostic_block& block = detail::last_abort;
  block.format = 0;
  unsigned condition;
  // TBEGIN with mask 0xff00 (as a signed number, for the assembler) saves all general registers. It does not allow
  // floating point inside: an instruction of that kind aborts, so those registers need no saving. After an abort,
  // execution continues after TBEGIN, with another condition code.
  asm volatile(".insn sil,0xe5600000,%1,-256\n\tipm %0" : "=d"(condition), "+Q"(block)::"cc", "memory");
  condition >>= 28;
  if (condition == 0) return attempt_status{attempt_status::started_value};
  return detail::status_from_block(block, condition);
}

inline void end() noexcept { asm volatile(".insn s,0xb2f80000,0" ::: "cc", "memory"); }  // TEND

inline unsigned depth() noexcept {
  if (!detail::has_facility()) return 0;
  unsigned levels;
  asm volatile(".insn rre,0xb2ec0000,%0,%%r0" : "=d"(levels)::"memory");  // ETND
  return levels;
}

inline bool active() noexcept { return depth() != 0; }

template <std::uint8_t Code>
inline void abort() noexcept {
  if (!active()) return;
  asm volatile(".insn s,0xb2fc0000,%0" ::"i"(detail::first_program_code + Code) : "cc", "memory");  // TABORT
}

inline void suspend() noexcept {}
inline void resume() noexcept {}
inline attempt_status begin_rollback_only() noexcept { return attempt_status{0}; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

#include <txsync_backend/warm.hpp>

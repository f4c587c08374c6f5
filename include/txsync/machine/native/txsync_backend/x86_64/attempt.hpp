// SPDX-License-Identifier: Apache-2.0
// Intel RTM and HLE as bytes, so that one binary serves every CPU and no compiler flag is needed (Intel SDM vol. 1, ch.
// 16).
#pragma once

#include <txsync_backend/facility.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

inline attempt_status begin() noexcept {
  std::uint32_t status = attempt_status::started_value;
  // XBEGIN with displacement 0: after an abort, execution continues at the next instruction, with EAX changed.
  asm volatile(".byte 0xc7, 0xf8, 0, 0, 0, 0" : "+a"(status)::"memory");
  return attempt_status{status};
}

inline void end() noexcept { asm volatile(".byte 0x0f, 0x01, 0xd5" ::: "memory"); }

inline bool active() noexcept {
  if (!detail::has_facility()) return false;
  bool inside;
  asm volatile(".byte 0x0f, 0x01, 0xd6" : "=@ccnz"(inside)::"memory");
  return inside;
}

template <std::uint8_t Code>
inline void abort() noexcept {
  if (!active()) return;  // XABORT is illegal on CPUs without RTM
  asm volatile(".byte 0xc6, 0xf8, %c0" ::"i"(Code) : "memory");
}

inline unsigned depth() noexcept { return active() ? 1 : 0; }

template <hle_word Word>
inline Word hle_acquire(std::atomic<Word>& word, std::type_identity_t<Word> value) noexcept {
  asm volatile(".byte 0xf2; xchg %0, %1" : "+q"(value), "+m"(word)::"memory");  // the register gives the width
  return value;
}

template <hle_word Word>
inline void hle_release(std::atomic<Word>& word, std::type_identity_t<Word> value) noexcept {
  asm volatile(".byte 0xf3; mov %1, %0" : "=m"(word) : "q"(value) : "memory");
}

inline void suspend() noexcept {}
inline void resume() noexcept {}
inline attempt_status begin_rollback_only() noexcept { return attempt_status{0}; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

#include <txsync_backend/warm.hpp>

// SPDX-License-Identifier: Apache-2.0
// Whether the CPU knows the instructions that ask about, abort or suspend an attempt. On other CPUs they are illegal.
// begin() is only reached after htm() has looked; these instructions may be reached at any time.
#pragma once

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

enum class facility : std::uint8_t { unknown, absent, present };

/// Written by find_facility(), always with the same value. Relaxed: it guards no other data.
TXSYNC_EXPORT extern std::atomic<facility> attempt_facility;
TXSYNC_EXPORT bool find_facility() noexcept;

/// Written by htm() once it has tried, always with the same value. Relaxed: it guards no other data.
TXSYNC_EXPORT extern std::atomic<facility> working_attempts;

[[gnu::always_inline]] inline bool has_facility() noexcept {
  const facility found = attempt_facility.load(std::memory_order_relaxed);
  return found == facility::present || (found == facility::unknown && find_facility());
}

/// What htm() found when this library was loaded; before that, `unknown`. It is a constant, so that the compiler may
/// read it once for many sections. It may then keep the answer in a register from lock to unlock.
TXSYNC_EXPORT extern const facility attempts_at_load;

/// On x86 it compares in memory, because compilers load an atomic into a register first. In a queue lock nothing hides
/// that load, because the unlock before it and the lock after it are locked instructions. It costs 0.1 ns of 5.3 on Zen
/// 4 (./dev bench locks --elision-only).
[[gnu::always_inline]] inline bool known_not_to_work() noexcept {
#if defined(__x86_64__)
  bool is_absent;
  // relaxed, as elsewhere: a byte is read as a whole
  asm("cmpb %2, %1" : "=@cce"(is_absent) : "m"(working_attempts), "i"(facility::absent));
  return is_absent;
#else
  return working_attempts.load(std::memory_order_relaxed) == facility::absent;
#endif
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

inline bool attempts_never_work() noexcept {
  // A test of a bit. In a loop over sections, GCC 12 keeps the result of such an operation in a register. A value that
  // is only compared would be read again each time.
  constexpr auto absent = static_cast<std::uint8_t>(detail::facility::absent);
  return (static_cast<std::uint8_t>(detail::attempts_at_load) & absent) != 0;
}

inline bool attempts_work() noexcept {
  // This test comes first and is inlined. Where attempts work, a comparison and a jump cost nothing beside an attempt.
  if (detail::known_not_to_work()) [[likely]]
    return false;
  const detail::facility found = detail::working_attempts.load(std::memory_order_relaxed);
  return found == detail::facility::present || htm().attempts;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

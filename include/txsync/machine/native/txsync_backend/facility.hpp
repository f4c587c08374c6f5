// SPDX-License-Identifier: Apache-2.0
// Whether the CPU knows the instructions that ask about, abort or suspend an attempt. They are illegal where it does
// not, and begin() is only reached after htm() has looked; these may be called at any time.
#pragma once

namespace txsync::inline TXSYNC_BACKEND::machine::detail {

enum class facility : std::uint8_t { unknown, absent, present };

/// Written by find_facility(), always with the same answer. Relaxed: it guards no other data.
TXSYNC_EXPORT extern std::atomic<facility> attempt_facility;
TXSYNC_EXPORT bool find_facility() noexcept;

/// Written by htm() once it has tried, always with the same answer. Relaxed: it guards no other data.
TXSYNC_EXPORT extern std::atomic<facility> working_attempts;

[[gnu::always_inline]] inline bool has_facility() noexcept {
  const facility found = attempt_facility.load(std::memory_order_relaxed);
  return found == facility::present || (found == facility::unknown && find_facility());
}

}  // namespace txsync::inline TXSYNC_BACKEND::machine::detail

namespace txsync::inline TXSYNC_BACKEND::machine {

inline bool attempts_work() noexcept {
  const detail::facility found = detail::working_attempts.load(std::memory_order_relaxed);
  // First, and in line: where attempts work a comparison and a jump are nothing beside one.
  if (found == detail::facility::absent) [[likely]]
    return false;
  return found == detail::facility::present || htm().attempts;
}

}  // namespace txsync::inline TXSYNC_BACKEND::machine

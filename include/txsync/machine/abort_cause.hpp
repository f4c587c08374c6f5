// SPDX-License-Identifier: Apache-2.0
// The causes of aborts. Counters, documents, policies and reports use the same words for them.
#pragma once

#include <cstddef>
#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

/// Why an attempt (a speculative run of a critical section or block) did not commit. A machine may signal several
/// causes at once; the first of them in this order is the "first cause". An abort that the program asked for is an
/// exception: its cause is always the first one. docs/abort-causes.md says which machine can report which cause.
enum class abort_cause : std::uint8_t {
  conflict,                ///< another thread touched a line of the read or write set
  capacity,                ///< too many lines, the machine does not say of which set
  capacity_read,           ///< the read set did not fit
  capacity_write,          ///< the write set did not fit
  explicit_abort,          ///< the program asked for it (printed as "explicit")
  lock_busy,               ///< the subscribed lock was held
  nested,                  ///< the abort happened in a nested attempt, or the nesting was too deep
  debug,                   ///< a debug exception or breakpoint
  interrupt,               ///< timer tick or another interrupt
  syscall,                 ///< a system call
  fault,                   ///< a page fault or another exception
  unfriendly_instruction,  ///< an instruction that cannot run speculatively
  spurious,                ///< the machine aborted without need
  validation,              ///< software: what was read has changed
  locked,                  ///< a location is owned by another software transaction
  page,                    ///< DMP: the page belongs to the other side
  user,                    ///< the body of the block ended by its own abort
  unknown,                 ///< the machine gave no reason (RTM's status 0)
};

inline constexpr std::size_t abort_cause_count = 18;

/// The cause as it is printed everywhere, for example "capacity-read". Never null.
constexpr const char* to_string(abort_cause cause) noexcept {
  constexpr const char* names[abort_cause_count] = {
      "conflict", "capacity",   "capacity-read", "capacity-write", "explicit", "lock-busy",
      "nested",   "debug",      "interrupt",     "syscall",        "fault",    "unfriendly-instruction",
      "spurious", "validation", "locked",        "page",           "user",     "unknown"};
  return names[static_cast<std::size_t>(cause)];
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND

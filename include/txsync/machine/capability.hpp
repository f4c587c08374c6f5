// SPDX-License-Identifier: Apache-2.0
// Whether txsync uses the hardware transactions of a machine. All back ends share this decision. It depends on what the
// CPU claims and on what it then does. htm() remembers the result; `txsync doctor` reports all of it.
#pragma once

#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/machine/attempt.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

/// What the machine claims before anything is tried.
enum class htm_claim : std::uint8_t {
  no_instructions,  ///< this architecture, or this build for it, has no such instructions
  absent,           ///< the CPU (x86: CPUID's RTM bit) or the kernel (POWER, s390: hwcap) does not claim them
  forced_abort,     ///< x86: RTM_ALWAYS_ABORT, the microcode has switched them off
  present           ///< claimed
};

/// Why attempts are not used.
enum class htm_obstacle : std::uint8_t {
  none,             ///< they work
  kill_switch,      ///< TXSYNC_HTM=off
  no_instructions,  ///< as htm_claim
  not_claimed,      ///< htm_claim::absent
  forced_abort,     ///< as htm_claim
  never_commits     ///< claimed, but every try aborted
};

/// What was claimed, what was tried, and the results.
struct htm_trial {
  htm_claim claim = htm_claim::no_instructions;
  htm_obstacle obstacle = htm_obstacle::no_instructions;
  unsigned tries = 0;           ///< one-store attempts; 0 if the claim or the kill switch forbade them
  unsigned commits = 0;         ///< of these, those whose store was there afterwards
  unsigned without_reason = 0;  ///< of these, those that aborted with status 0
  attempt_status last_abort{};  ///< meaningful if commits < tries
  htm_capability capability{};
};

/// Tries now, regardless of what htm() remembers. It makes all of `tries` attempts, so that the share of commits is
/// known. Interrupts and first page faults abort some attempts on good machines, too. Cost: some microseconds.
/// Requires: the thread is in no attempt.
TXSYNC_EXPORT htm_trial try_htm(unsigned tries) noexcept;
inline constexpr unsigned htm_default_tries = 100;

/// The claim alone.
TXSYNC_EXPORT htm_claim claimed_htm() noexcept;

/// What the begin instruction does on a CPU that does not claim it. (A hypervisor or a kernel may hide only the claim.)
struct unclaimed_trial {
  bool illegal = false;  ///< the CPU does not know the instruction
  unsigned tries = 0;    ///< 0: not tried, nothing is known
  unsigned commits = 0;
  unsigned without_reason = 0;
};
/// Tries the instruction itself, whatever is claimed. For diagnosis at the start of a program. A signal handler, which
/// is installed only during the call, catches an illegal instruction.
TXSYNC_EXPORT unclaimed_trial try_unclaimed_htm(unsigned tries) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

// SPDX-License-Identifier: Apache-2.0
// What comes to sites from outside of the program: their numbers and policies from `txsync run`, policies from files.
// Defined by the floors above: for the linked library in src/channel/linked_sites.cpp and
// src/policy/program_policy.cpp, for simulated programs in simulated_outside.cpp, for all others, which have nobody
// outside, in nobody_outside.cpp.
#pragma once

#include <cstdint>

#include "observe/said_policy.hpp"

namespace txsync::inline TXSYNC_BACKEND::observe {

/// Who gives a site its number.
enum class numbering : std::uint8_t {
  here,     ///< this process: nobody asks for its counts
  outside,  ///< the launcher has given it
  later,    ///< the launcher would, but cannot be asked now: in an attempt, or because it does not look
};

struct outside_number {
  numbering by = numbering::here;
  bool takes_policies = false;  ///< policies may come from outside, now or later
  std::uint32_t id = 0;         ///< 0: not counted
  said_policy policy = {};      ///< what the launcher says of it
};

/// Asks for the number of the site of that name, by which the process' threads count it from now on. `heeded`: the
/// parts of its policy that its locks are known to heed (site_policy.hpp). Waits for nobody longer than the preloaded
/// library does. Thread-safe; two that ask for one name have the same answer.
outside_number number_from_outside(const char* name, std::uint32_t heeded) noexcept;

/// Before a thread of the process counts for the first time: whoever reads the counters outside says where they lie.
void open_outside() noexcept;

/// What the policy files that the program has read say of the site.
said_policy policy_from_files(const char* name) noexcept;
/// Changes with each file. Sequentially consistent, as the list of sites is: see site_registry.
std::uint32_t files_read() noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::observe

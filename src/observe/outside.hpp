// SPDX-License-Identifier: Apache-2.0
// What sites get from outside of the program: numbers and policies from `txsync run`, policies from files. Floors above
// define these functions. For the linked library they are in src/channel/linked_sites.cpp and
// src/policy/program_policy.cpp, for simulated programs in simulated_outside.cpp. For all others, which get nothing
// from outside, they are in nobody_outside.cpp.
#pragma once

#include <cstdint>

#include "observe/partial_policy.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

/// Who gives a site its number.
enum class numbering : std::uint8_t {
  here,     ///< this process: nobody outside asks for its counts
  outside,  ///< the launcher has given the number
  later,    ///< the launcher will, but cannot be asked now: the thread is in an attempt, or the launcher does not
            ///< answer
};

struct outside_number {
  numbering by = numbering::here;
  bool takes_policies = false;  ///< policies may come from outside, now or later
  std::uint32_t id = 0;         ///< 0: not counted
  partial_policy policy = {};   ///< what the launcher sets for the site
};

/// Asks for the number of the site with this name. The threads of the process count the site under this number from now
/// on. `heeded`: the parts of its policy that its locks are known to heed (site_policy.hpp). Waits no longer than the
/// preloaded library does. Thread-safe; two calls with one name get the same answer.
outside_number number_from_outside(const char* name, std::uint32_t heeded) noexcept;

/// Called before any thread of the process counts. Tells readers outside where the counters are.
void open_outside() noexcept;

/// Tells readers outside that the program has elided locks which do not count their waits (announce_unwatched()).
void announce_outside() noexcept;

/// What the policy files that the program has read set for the site.
partial_policy policy_from_files(const char* name) noexcept;
/// Changes with each file. Sequentially consistent, like the list of sites: see site_registry.
std::uint32_t files_read() noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe

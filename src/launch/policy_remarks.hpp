// SPDX-License-Identifier: Apache-2.0
// Sentences for a run whose policy had no effect somewhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <txsync/machine/attempt.hpp>
#include <txsync_backend/name.hpp>

#include "policy/policy.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

/// A site that the program asked for: its name and kind, and what its locks follow (observe::site_record).
struct known_site {
  std::string name;
  std::string kind;
  std::uint32_t heeded = 0;
};

/// The first eight names of a list, and how many there are beyond them.
std::string listed(const std::vector<std::string>& names);

/// What a policy asked for and the run did not have:
///  - sites that the policy names and the program did not ask for;
///  - parts of a site's policy that its locks do not follow;
///  - elision and warm-up where the machine has no such attempts, and elision of locks that stay the C library's.
/// Only what a policy file says of a site by its name is compared with that site's locks. A default is meant for the
/// locks that follow it. At most eight sites are named for each reason.
std::vector<std::string> policy_remarks(const policy::policy_set& policies, const std::vector<known_site>& known,
                                        const machine::htm_capability& machine);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch

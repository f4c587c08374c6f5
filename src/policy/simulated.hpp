// SPDX-License-Identifier: Apache-2.0
// A policy as a program on the simulated machine gets it, which reads no files.
#pragma once

#include <string>

#include "policy/policy.hpp"

namespace txsync::inline TXSYNC_BACKEND::policy {

/// What is said of named sites, as observe/told_policies.hpp has it; empty where nothing is.
std::string told_sites(const policy_set& set);

/// What pthread's locks of the program are: the default, in keys and words of policy files, without what a simulated
/// program does not take (`spinlock`, `counting`, "libc"). All of them are one site there, which no name means. Empty
/// where nobody has said anything of them.
std::string told_locks(const policy_set& set);

}  // namespace txsync::inline TXSYNC_BACKEND::policy

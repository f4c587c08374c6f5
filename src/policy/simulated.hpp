// SPDX-License-Identifier: Apache-2.0
// A policy in the form that a program on the simulated machine gets. Such a program reads no files.
#pragma once

#include <string>

#include "policy/policy.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::policy {

/// What the policy sets for named sites, in the format of observe/simulated_policies.hpp; empty if it sets nothing.
std::string site_policies_to_simulate(const policy_set& set);

/// What pthread's locks of the program are: the default, in keys and words of policy files. It leaves out what a
/// simulated program does not accept (`spinlock`, `counting`, "libc"). These locks share one site there, and no name in
/// a policy means it. Empty if the policy sets nothing for them.
std::string lock_policies_to_simulate(const policy_set& set);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::policy

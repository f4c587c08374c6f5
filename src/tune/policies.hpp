// SPDX-License-Identifier: Apache-2.0
// Policies as candidates: what a configuration means, and which other kinds of lock a site could have.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "policy/policy.hpp"
#include "tune/trial.hpp"
#include "tune/usual_policies.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tune {

/// The candidate for the unmodified program.
inline constexpr const char* unmodified = "unmodified";

class policies {
 public:
  /// `unmodified`, names of policies and policy files. Throws policy::policy_error for those that cannot be read.
  policies(const std::vector<std::string>& candidates, offered_attempts machine);

  /// What `config` means; none for the unmodified program. Requires: its candidate was given to the constructor.
  std::optional<policy::policy_set> of(const configuration& config) const;

  /// The site as a run under `policy` counted it.
  site_seen seen(const observe::site_record& counted, const std::optional<policy::policy_set>& policy) const;

 private:
  std::map<std::string, std::optional<policy::policy_set>> by_name_;
  offered_attempts machine_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune

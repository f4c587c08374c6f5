// SPDX-License-Identifier: Apache-2.0
// Subjects whose locks belong to a role that learns (elision, warm_up): a new role for each run, so that a run learns
// for itself. The same lock under several policies is compiled once.
#pragma once

#include <utility>

#include "workloads/workload.hpp"

namespace txsync::inline TXSYNC_BACKEND::workloads {

/// The role of the locks of a run.
template <class Role>
constinit inline Role* role_of_run = nullptr;

/// A lock of that role, as adapters want it.
template <class Lock, class Role>
class with_role_of_run : public Lock {
 public:
  with_role_of_run() noexcept : Lock(*role_of_run<Role>) {}
};

template <class Role, const subject& locked, unsigned which, const auto& policy>
outcome run_by(const parameters& values, const plan& how) {
  Role role(policy);
  role_of_run<Role> = &role;
  return locked.run[which](values, how);
}

template <class Role, const subject& locked, const auto& policy, unsigned... which>
constexpr void set_runners(subject& made, std::integer_sequence<unsigned, which...>) noexcept {
  // Locks that exclude have a runner for every workload but the barriers' and that of atomic blocks. (Runners are not
  // compared: UBSan's are no constants.)
  constexpr auto has_runner = [](workload_id one) {
    return one != workload_id::trisolve && one != workload_id::transactions;
  };
  ((made.run[which] = has_runner(static_cast<workload_id>(which)) ? run_by<Role, locked, which, policy> : nullptr),
   ...);
}

/// The subject `locked`, whose locks are with_role_of_run, under a policy.
template <class Role, const subject& locked, const auto& policy>
constexpr subject by_policy(const char* name, const char* summary) noexcept {
  subject made = locked;
  made.name = name;
  made.summary = summary;
  set_runners<Role, locked, policy>(made, std::make_integer_sequence<unsigned, workload_count>());
  return made;
}

}  // namespace txsync::inline TXSYNC_BACKEND::workloads

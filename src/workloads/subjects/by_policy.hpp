// SPDX-License-Identifier: Apache-2.0
// Subjects whose locks speculate by a policy. Each run has a new site, so that it learns for itself. A lock is compiled
// once for all policies.
#pragma once

#include <utility>

#include "speculate/scoped_site.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

/// The site of the locks of a run.
constinit inline site* site_of_run = nullptr;

/// A lock of that site, in the form that adapters need.
template <class Lock>
class of_run : public Lock {
 public:
  of_run() noexcept : Lock(*site_of_run) {}
};

template <const subject& locked, unsigned which, const auto&... policies>
outcome run_by(const parameters& values, const plan& how) {
  scoped_site place(policies...);
  site_of_run = &place;
  return locked.run[which](values, how);
}

template <const subject& locked, const auto&... policies, unsigned... which>
constexpr void set_runners(subject& made, std::integer_sequence<unsigned, which...>) noexcept {
  // Locks that exclude have a runner for every workload except those of barriers and of atomic blocks. (Runners are not
  // compared, because UBSan's are not constants.)
  constexpr auto has_runner = [](workload_id one) {
    return one != workload_id::trisolve && one != workload_id::transactions;
  };
  ((made.run[which] = has_runner(static_cast<workload_id>(which)) ? run_by<locked, which, policies...> : nullptr), ...);
}

/// The subject `locked`, whose locks are of_run, under a policy of elision, or of warm-up, or one of each.
template <const subject& locked, const auto&... policies>
constexpr subject by_policy(const char* name, const char* summary) noexcept {
  subject made = locked;
  made.name = name;
  made.summary = summary;
  set_runners<locked, policies...>(made, std::make_integer_sequence<unsigned, workload_count>());
  return made;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

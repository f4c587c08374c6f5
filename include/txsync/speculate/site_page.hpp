// SPDX-License-Identifier: Apache-2.0
// What a site keeps for locks that speculate: policies and what was learnt by them.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/observe/site_state.hpp>
#include <txsync/policy/site_with_policy.hpp>
#include <txsync/speculate/two_ways.hpp>

namespace txsync::inline TXSYNC_BACKEND {

/// The policies of a site's locks, as site.hpp says whose they are. Thread-safe. Cost: a few loads.
TXSYNC_EXPORT const elision_policy& elision_policy_of(const site& place) noexcept;
TXSYNC_EXPORT const warm_up_policy& warm_up_policy_of(const site& place) noexcept;

namespace detail {

enum class speculation : std::uint8_t { elision, warm_up };

/// A site's own state: a page of memory. Mapped by the site's first section that may speculate, outside attempts, and
/// never given back. Learners that the policy does not ask for are not touched.
struct site_page : site_state {
  explicit site_page(site& place) noexcept : site_state(&place, policy_changed) {}
  /// What set_policy() calls of sites whose sections have asked.
  TXSYNC_EXPORT static void policy_changed(site& place) noexcept;

  const elision_policy& elides_by() const noexcept { return *elision(); }
  const warm_up_policy& warms_by() const noexcept { return *warm_up(); }

  /// Reads the site's policies, and what was learnt, into the line that sections read. Thread-safe.
  void apply_policy() noexcept;
  /// The same after a look at a trial.
  void keep_elision_answer() noexcept;
  void keep_warm_up_answer() noexcept;

  alignas(machine::pad_bytes) std::atomic<std::uint32_t> speculators{0};  ///< threads that warm up now
  two_ways elision_trial;                                                 ///< elided first, the lock second
  two_ways warm_up_trial;                                                 ///< with warm-up first, without it second
  two_ways early_trial{two_ways::tie::first};  ///< by warm_up_trial first, before the lock is asked for second

 private:
  bool answer(const elision_policy& policy) const noexcept;
  warmth answer(const warm_up_policy& policy) const noexcept;
};
static_assert(sizeof(site_page) == 4096);

/// The site's state once it is known whether it speculates so; asks for a page where it does. The site takes its locks
/// where there is none, until set_policy(). In an attempt, which a system call would end, this answers that the section
/// takes its lock, and decides nothing.
TXSYNC_EXPORT site_state& decide_state(site& place, speculation what) noexcept;

}  // namespace detail

}  // namespace txsync::inline TXSYNC_BACKEND

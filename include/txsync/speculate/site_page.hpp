// SPDX-License-Identifier: Apache-2.0
// What a site keeps for locks that speculate: its policies, and what was learnt under them.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/export.hpp>
#include <txsync/observe/site_state.hpp>
#include <txsync/policy/site_with_policy.hpp>
#include <txsync/speculate/ab_trial.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

/// The policies of a site's locks; site.hpp says which source decides. Thread-safe. Cost: a few loads.
TXSYNC_EXPORT const elision_policy& elision_policy_of(const site& the_site) noexcept;
TXSYNC_EXPORT const warm_up_policy& warm_up_policy_of(const site& the_site) noexcept;

namespace detail {

enum class speculation : std::uint8_t { elision, warm_up };

/// A site's own state: a page of memory. The site's first critical section that may speculate maps it, outside
/// attempts. It is never given back. Trials that the policy does not ask for are not touched.
struct site_page : site_state {
  explicit site_page(site& the_site) noexcept : site_state(&the_site, policy_changed) {}
  /// What set_policy() calls for sites whose sections have asked.
  TXSYNC_EXPORT static void policy_changed(site& the_site) noexcept;

  const elision_policy& elides_by() const noexcept { return *elision(); }
  const warm_up_policy& warms_by() const noexcept { return *warm_up(); }

  /// Writes the site's policies, and what was learnt, to the line that critical sections read. Thread-safe.
  void apply_policy() noexcept;
  /// The same for the result of a trial, after a look at it.
  void keep_elision_answer() noexcept;
  void keep_warm_up_answer() noexcept;

  alignas(machine::pad_bytes) std::atomic<std::uint32_t> speculators{0};  ///< threads that warm up at present
  ab_trial elision_trial;                                                 ///< first mode: elided; second: the lock
  ab_trial warm_up_trial;                                                 ///< first mode: warm-up; second: none
  ab_trial before_lock_trial{ab_trial::tie::first};  ///< first mode: by warm_up_trial; second: also before lock

 private:
  bool answer(const elision_policy& policy) const noexcept;
  warm_mode answer(const warm_up_policy& policy) const noexcept;
};
static_assert(sizeof(site_page) == 4096);

/// Whether a policy_mutex of the site is elided. Only sites that ask for it are, by their policy word or in code. A
/// policy that says nothing of it means none.
TXSYNC_EXPORT bool asks_for_elision(const site& the_site, std::uint32_t word) noexcept;

/// Decides whether the site speculates in that way, and returns its state. If it does, the site gets a page. If there
/// is no memory for one, the site's sections take their locks until set_policy(). In an attempt, which a system call
/// would end, this decides nothing, and the result says that the section takes its lock.
TXSYNC_EXPORT site_state& decide_state(site& the_site, speculation what) noexcept;

}  // namespace detail

}  // namespace txsync::TXSYNC_INLINE_BACKEND

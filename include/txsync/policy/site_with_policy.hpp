// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <txsync/policy/elision_policy.hpp>
#include <txsync/policy/warm_up_policy.hpp>
#include <txsync/site.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

/// A site whose policies are given in code: any elision_policy and warm_up_policy, not only presets. A policy that is
/// not given is the standard preset; a policy_mutex is not elided then. If the site's policy word names a kind of
/// elision or of warm-up, the word decides and not the code: the operator's choice comes first.
///
///     constexpr txsync::elision_policy twice{.attempts = 2};
///     constinit txsync::site_with_policy accounts{"bank.accounts", twice};
///     constinit txsync::elided<txsync::tatas_lock> accounts_lock{accounts};
///
/// Requires: as site; the policies outlive it and do not change. With counting::off nothing is counted until
/// set_policy() turns counting on. Constant-initialised. Thread-safe. 40 bytes.
class site_with_policy : public site {
 public:
  constexpr site_with_policy(const char* name, const elision_policy& elides, counting counts = counting::on) noexcept
      : site(name, counts, policy_word::in_code), elision_(&elides) {}
  constexpr site_with_policy(const char* name, const warm_up_policy& warms, counting counts = counting::on) noexcept
      : site(name, counts, policy_word::in_code), warm_up_(&warms) {}
  constexpr site_with_policy(const char* name, const elision_policy& elides, const warm_up_policy& warms,
                             counting counts = counting::on) noexcept
      : site(name, counts, policy_word::in_code), elision_(&elides), warm_up_(&warms) {}

  /// Null: not given.
  const elision_policy* elision() const noexcept { return elision_; }
  const warm_up_policy* warm_up() const noexcept { return warm_up_; }

 private:
  const elision_policy* elision_ = nullptr;
  const warm_up_policy* warm_up_ = nullptr;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND

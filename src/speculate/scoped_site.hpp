// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <txsync/speculate/site_page.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

/// A site for the length of a scope, which holds its own state: for runs that learn on their own, and for tests.
/// Nothing is counted at it. Requires: its locks are not used after it.
class scoped_site : public site_with_policy {
 public:
  explicit scoped_site(const elision_policy& policy = elision_presets::standard) noexcept
      : site_with_policy("", policy, counting::off) {
    begin();
  }
  explicit scoped_site(const warm_up_policy& policy) noexcept : site_with_policy("", policy, counting::off) { begin(); }
  scoped_site(const elision_policy& elides, const warm_up_policy& warms) noexcept
      : site_with_policy("", elides, warms, counting::off) {
    begin();
  }

 private:
  void begin() noexcept {
    page_.apply_policy();
    (void)detail::site_state::replace(*this, detail::undecided, page_);
  }

  detail::site_page page_{*this};
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND

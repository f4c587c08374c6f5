// SPDX-License-Identifier: Apache-2.0
// What the locks of a site share when their sections are elided or their waiters run ahead: the presets that its
// policy names, and what was learnt of them at run time.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/site.hpp>
#include <txsync/speculate/elision.hpp>
#include <txsync/speculate/warm_up.hpp>

#include "mutex_state.hpp"
#include "observe/registry.hpp"
#include "policy/packed.hpp"
#include "sites.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

/// What a site's policy comes to on this machine.
struct role_choices {
  algorithm under;  ///< the lock, where it is taken
  bool elides;
  bool warms;
};

struct lock_role {
  /// `counted_as`: the number of its site, or 0.
  lock_role(std::uint32_t counted_as, const elision_policy& elides_by, const warm_up_policy& warms_by,
            const role_choices& choices) noexcept
      : eliding(elides_by, place),
        warming(warms_by, place),
        place(observe::site_registry::numbered(counted_as)),
        under(choices.under),
        elides(choices.elides),
        warms(choices.warms) {}

  elision eliding;
  warm_up warming;
  site place;  ///< where attempts and warm-ups are counted
  algorithm under;
  bool elides;
  bool warms;
};

/// By site; those that are not counted have one, too. Made by the first lock of the site, never freed.
extern constinit std::atomic<lock_role*> roles[most_sites + 1];

/// Makes the role of a site that asks for elision or warm-up, a page of memory. False when there is none left: its
/// locks are plain ones then. Thread-safe.
bool make_role(std::uint32_t site, const role_choices& choices, const policy::packed& policy) noexcept;

/// Requires: make_role(site, ...) has been true.
inline lock_role& role_of(std::uint32_t site) noexcept {
  return *roles[site].load(std::memory_order_acquire);  // pairs with the release in make_role()
}

}  // namespace txsync::inline TXSYNC_BACKEND::preload

// SPDX-License-Identifier: Apache-2.0
// What the mutexes of a site share when their sections are elided: the preset that its policy names, and what was
// learnt of it at run time.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/speculate/elision.hpp>

#include "policy/packed.hpp"
#include "sites.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

/// By site; those that are not counted have one, too. Made by the first mutex of the site, never freed.
extern constinit std::atomic<elision*> roles[most_sites + 1];

/// Makes the role of a site that asks for elision, a page of memory. False when there is none left: its mutexes are not
/// elided then. Thread-safe. Requires: `kind` is neither unsaid nor off.
bool make_role(std::uint32_t site, policy::elision_kind kind) noexcept;

/// Requires: make_role(site, ...) has been true.
inline elision& role_of(std::uint32_t site) noexcept {
  return *roles[site].load(std::memory_order_acquire);  // pairs with the release in make_role()
}

}  // namespace txsync::inline TXSYNC_BACKEND::preload

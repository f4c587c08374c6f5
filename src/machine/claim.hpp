// SPDX-License-Identifier: Apache-2.0
// Inside the seam: what a back end must say for machine/capability.hpp.
#pragma once

#include <txsync/machine/capability.hpp>

namespace txsync::inline TXSYNC_BACKEND::machine::detail {

/// The claim of an x86 CPU, from machine::cpuid().
htm_claim claim_by_cpuid() noexcept;

/// Extras that come with working attempts on this machine: hle, suspend, rollback_only.
void add_extras(htm_capability& found) noexcept;

/// Stands while try_htm() tries. Natively nothing; the scripted machine then answers by its nature, not by its script.
class trial_scope {
 public:
  trial_scope() noexcept;
  ~trial_scope();  // NOLINT(performance-trivially-destructible): only natively, another back end has work to do
  trial_scope(const trial_scope&) = delete;
  trial_scope& operator=(const trial_scope&) = delete;
};

}  // namespace txsync::inline TXSYNC_BACKEND::machine::detail

// SPDX-License-Identifier: Apache-2.0
// Inside the seam: what a back end must provide for machine/capability.hpp.
#pragma once

#include <txsync/machine/capability.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

/// What an x86 CPU claims, from machine::cpuid().
htm_claim claim_by_cpuid() noexcept;

/// Sets the extras that come with working attempts on this machine: hle, suspend, rollback_only.
void add_extras(htm_capability& found) noexcept;

/// Exists while try_htm() tries. It does nothing natively. The scripted machine meanwhile answers by its nature, not by
/// its script.
class trial_scope {
 public:
  trial_scope() noexcept;
  ~trial_scope();  // NOLINT(performance-trivially-destructible): only natively, another back end has work to do
  trial_scope(const trial_scope&) = delete;
  trial_scope& operator=(const trial_scope&) = delete;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::machine::detail {

/// Called when the library is loaded. Where the process has another copy of it, which this one would share locks and
/// blocks with in vain, natively one line on the standard error says so.
void look_for_other_copies() noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::machine::detail

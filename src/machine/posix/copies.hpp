// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

/// Called when the library is loaded. If the process has another copy, the two cannot share locks and blocks. Natively,
/// one line on the standard error then says so.
void look_for_other_copies() noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail

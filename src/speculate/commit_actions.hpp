// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::detail {

/// Touches the memory in which on_commit() keeps actions. A thread whose first action comes in an attempt gets a page
/// fault for it. The fault aborts the attempt and leaves the page as it was, so every later attempt would abort too.
/// Called outside attempts, after one that ended without the hint that a retry may help. Cost: two loads and stores.
void bring_in_actions() noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::detail

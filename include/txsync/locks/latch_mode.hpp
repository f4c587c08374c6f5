// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

/// How a latch is held.
enum class latch_mode : std::uint8_t { none, shared, exclusive };

}  // namespace txsync::TXSYNC_INLINE_BACKEND

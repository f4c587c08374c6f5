// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

inline bool is_forked() noexcept { return fork_count() != 0; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <txsync/machine/cpu.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

inline void light_fence() noexcept { fence(); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

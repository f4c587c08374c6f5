// SPDX-License-Identifier: Apache-2.0
// Between guarded.cpp and the back end, which handles faults.
#pragma once

#include <csetjmp>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

/// What setjmp returns after a fault.
inline constexpr int landed_by_fault = 1;

/// From now on, a fault of the calling thread continues at `target`: an access fault that no fault handler claims, or
/// a division that faults. Null ends this.
void catch_faults(std::jmp_buf* target) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail

// SPDX-License-Identifier: Apache-2.0
// Between guarded.cpp and the back end, which hears of faults.
#pragma once

#include <csetjmp>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::machine::detail {

/// What setjmp answers after a fault.
inline constexpr int landed_by_fault = 1;

/// From now on an access fault of the calling thread that no handler of faults claims, and a division that faults, go
/// on at `landing`; null: no longer.
void catch_faults(std::jmp_buf* landing) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::machine::detail

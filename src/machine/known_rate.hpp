// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::machine {

/// What cycles_per_second() answers from now on, so that it need not measure: another process on this machine has done
/// so.
void know_cycles_per_second(std::uint64_t rate) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::machine

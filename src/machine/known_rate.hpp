// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

/// Sets what cycles_per_second() returns, so that it need not measure: another process on this machine has measured.
void know_cycles_per_second(std::uint64_t rate) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

// SPDX-License-Identifier: Apache-2.0
// Addresses of code have a meaning only until that code is unloaded: another library may be loaded in its place.
#pragma once

#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

/// A part of the key of remembered call chains. It changes when a library is unloaded that remember_code() was told of.
std::uint64_t code_epoch() noexcept;

/// Calls in these addresses are remembered from now on. 20 ns for each.
void remember_code(const std::uintptr_t* addresses, std::uint32_t count) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

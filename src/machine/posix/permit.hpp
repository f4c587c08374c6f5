// SPDX-License-Identifier: Apache-2.0
// The native and the scripted machine share the sources of this folder. The scripted machine can refuse what they are
// about to ask of the system.
#pragma once

#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

enum class system_call : std::uint8_t { map_pages, protect_pages, fault_handler, start_thread, join_thread };

/// False: the caller must fail as if the system had refused. Always true natively.
bool permitted(system_call call) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail

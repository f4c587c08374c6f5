// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "channel/channel.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::channel {

/// This process' number for the launcher; 0: it has no number for it. A few microseconds.
std::uint32_t launchers_number(const head& file) noexcept;

/// Whether that process does not exist any more. False if the system does not answer.
bool has_ended(std::uint32_t process) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::channel

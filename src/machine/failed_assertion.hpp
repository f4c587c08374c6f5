// SPDX-License-Identifier: Apache-2.0
// How a program ends at an assertion, on each back end.
#pragma once

#include <cstddef>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

/// Writes the line, which has its end and a zero behind it, and aborts.
[[noreturn]] void end_with(const char* line, std::size_t length) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail

// SPDX-License-Identifier: Apache-2.0
// Replaces machine/native/copies.cpp. A program that links the library shares no object with this copy of it, which
// serves pthread's locks only.
#include "machine/posix/copies.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

void look_for_other_copies() noexcept {}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail

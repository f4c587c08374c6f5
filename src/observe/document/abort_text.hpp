// SPDX-License-Identifier: Apache-2.0
// Sentences about the facts of an abort_place. Tables and documents have the same.
#pragma once

#include <string>

#include "observe/document/document.hpp"

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

/// "objects", "blocks" or "bytes"; empty for none.
const char* to_string(sharing_kind kind) noexcept;
/// In which way the two accesses shared only the line. Empty if they did not.
std::string sharing_text(const abort_place& place);
/// What was full: whose ways of which set. Empty if that is not known.
std::string room_text(const abort_place& place);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe

// SPDX-License-Identifier: Apache-2.0
// The code that samples were taken in, by name: where attempts were as they ended, and who had called that code.
#pragma once

#include <vector>

#include "attach/code_names.hpp"
#include "launch/code_samples.hpp"
#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::attach {

/// At most 64, the most frequent first. Of a place in the C++ library its caller is the line.
///
/// An abort restores the registers, so the calls are those at the begin of the attempt. They start at the function that
/// took the lock, or at its caller where the lock's own code keeps no frame. If the line's function is among them, its
/// caller is told, else the innermost of them. Lock wrappers and code of txsync are no callers.
std::vector<observe::abort_end> ends_of(const launch::code_samples& all, code_names& names);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::attach

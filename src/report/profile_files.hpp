// SPDX-License-Identifier: Apache-2.0
// Files of a run that other tools can open. docs/profile-files.md says which tools.
#pragma once

#include <string>

#include "launch/launch.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {

/// Folded stacks: one line for each chain of calls that waited. It has the functions, the outermost first, and the
/// microseconds of waiting. Chains of less than half a microsecond are left out.
std::string folded_file(const launch::result& result);

/// Go's contention profile (pprof's profile.proto, compressed): contentions and nanoseconds of delay by the chain of
/// calls that waited. Throws std::runtime_error if there is no memory to compress it.
std::string pprof_file(const launch::result& result);

/// Trace Event JSON: waits and holds by thread.
std::string trace_file(const launch::result& result);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report

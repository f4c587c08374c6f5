// SPDX-License-Identifier: Apache-2.0
// What `txsync run` writes into a result document.
#pragma once

#include <string>
#include <vector>

#include "launch/launch.hpp"
#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

/// Adds a point and the members of a run: its sites, its chains of calls, how it ended. `policy` is the user's word for
/// what the locks did. `ends`: the code that attempts had reached when they ended.
void put_document(observe::document& into, const options& what, const result& seen, const std::string& policy,
                  const std::vector<observe::abort_end>& ends);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch

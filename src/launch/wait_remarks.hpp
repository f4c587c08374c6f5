// SPDX-License-Identifier: Apache-2.0
// Which waits of a run nobody counted.
#pragma once

#include <string>
#include <vector>

#include <txsync_backend/name.hpp>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

/// A sentence about elided locks that do not count their waits; empty if there were none. `has_such`: the program has
/// the code of such locks. Where no attempts work, they are in no site's counts, and the sentence cannot name them.
std::string remark_on_waits(const std::vector<observe::site_record>& sites, bool has_such, bool attempts_work);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch

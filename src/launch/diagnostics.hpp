// SPDX-License-Identifier: Apache-2.0
// What a program did wrong with its locks, in sentences.
#pragma once

#include <string>
#include <vector>

#include "launch/site_resolver.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

/// One sentence each, in the order in which they were noticed. The same sentence for several processes appears once.
/// Requires: the resolver has stopped. `waited_at_end`: for each of its sites, whether threads waited there when the
/// run ended.
std::vector<std::string> sentences_of(const site_resolver& from, const std::vector<bool>& waited_at_end);
/// The sites with a diagnostic that a real-time priority was ignored, each once. Requires: as above.
std::vector<std::string> sites_that_ignored_a_priority(const site_resolver& from);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch

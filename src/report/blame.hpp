// SPDX-License-Identifier: Apache-2.0
// Waiting by the calls that waited and by the calls that held the lock meanwhile, from the document of a run.
#pragma once

#include <string>
#include <vector>

#include "observe/document/document.hpp"
#include "report/call_tree.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {

using observe::json;

/// A chain of calls that ends at a lock.
struct lock_chain {
  std::vector<std::string> frames;  ///< root first, the lock call last; without the site
  std::string site;
  double waits = 0;
  double wait_ns = 0;
};

/// `member` is "wait_chains" or "hold_chains". Empty if the document has none.
std::vector<lock_chain> lock_chains(const json& document, const char* member);

/// The chains for flame graphs: the frames, with the site on top.
std::vector<call_chain> with_sites(const std::vector<lock_chain>& list);

/// The chains for documents without call chains: the module that contains the code, then the site with its waiting
/// time.
std::vector<call_chain> site_chains(const json& document);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report

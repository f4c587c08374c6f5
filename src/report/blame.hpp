// SPDX-License-Identifier: Apache-2.0
// Waiting by the calls that waited and by those that held the lock meanwhile, as the document of a run has it.
#pragma once

#include <string>
#include <vector>

#include "observe/document/document.hpp"
#include "report/call_tree.hpp"

namespace txsync::inline TXSYNC_BACKEND::report {

using observe::json;

/// A chain of calls down to a lock.
struct lock_chain {
  std::vector<std::string> frames;  ///< root first, the lock call last; without the site
  std::string site;
  double waits = 0;
  double wait_ns = 0;
};

/// `member` is "wait_chains" or "hold_chains". Empty where the document has none.
std::vector<lock_chain> lock_chains(const json& document, const char* member);

/// What flame graphs draw: the frames, with the site on top.
std::vector<call_chain> with_sites(const std::vector<lock_chain>& list);

/// The same of documents without chains: the module that holds the code, and the site, with the time waited there.
std::vector<call_chain> site_chains(const json& document);

}  // namespace txsync::inline TXSYNC_BACKEND::report

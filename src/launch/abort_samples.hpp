// SPDX-License-Identifier: Apache-2.0
// The code at which hardware transactions of a program under `txsync run` ended, sampled by the machine's counters.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launch/code_samples.hpp"
#include "launch/counted_event.hpp"
#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

/// What is sampled in a program; or why nothing is, in one line. The line is empty if no attempts can be made either.
struct abort_sampling {
  std::optional<counted_event> event = {};
  std::string why_not = {};
};
/// Does nothing if attempts do not work. Whether the program, and those that it starts, will make any cannot be known.
/// An event that does not happen costs nothing.
abort_sampling choose_abort_sampling(bool attempts_work, const std::string& sources = event_sources);

/// Sentences on what the samples lack, for a run in which an attempt aborted: why there are none, or what was lost.
/// None if no attempt aborted.
std::vector<std::string> abort_remarks(const std::vector<observe::site_record>& sites, const std::string& why_not,
                                       const std::optional<code_samples>& samples);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch

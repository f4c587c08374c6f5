// SPDX-License-Identifier: Apache-2.0
// Whether the source line at which a hardware transaction ended can be sampled on the machine at hand.
#pragma once

#include <string>
#include <vector>

#include "observe/document/document.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {

/// Where the kernel lists what counts events.
inline constexpr const char* event_sources = "/sys/bus/event_source/devices";

/// One line that says why the lines at which attempts ended are not known, for a run of which an attempt aborted; empty
/// where none did. A processor's counters are a folder "cpu", or "cpu_core", of `sources`.
std::string why_no_abort_samples(const std::vector<observe::site_record>& sites,
                                 const std::string& sources = event_sources);

}  // namespace txsync::inline TXSYNC_BACKEND::cli

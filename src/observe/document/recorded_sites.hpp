// SPDX-License-Identifier: Apache-2.0
// What the sites of a simulated program counted, read from the records of its run (observe/site_records.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

/// The sites that counted something, in the order of their first numbers. Sites of one name are added. `kind` is empty.
std::vector<site_record> recorded_sites(const std::map<std::string, std::uint64_t>& records);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe

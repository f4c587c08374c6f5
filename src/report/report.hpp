// SPDX-License-Identifier: Apache-2.0
// One page from result documents: HTML with everything in it (style, drawings, script), which asks for nothing from the
// network and reads without its script. docs/report.md says how to read one.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "observe/document/document.hpp"

namespace txsync::inline TXSYNC_BACKEND::report {

using observe::json;

/// Says which document is none, and why, in one line.
struct report_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A result document with the name under which the user knows it.
struct source {
  std::string name;
  json document;
};

/// Reads the text of a document. Throws report_error when it is not JSON, or not a result document of schema 1.
source read(std::string name, std::string_view text);

/// The page. Every text of the documents is escaped. Requires: at least one source. Throws report_error when a member
/// of a document has another type than docs/result.schema.json says.
std::string page(const std::vector<source>& sources);

}  // namespace txsync::inline TXSYNC_BACKEND::report

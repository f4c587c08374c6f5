// SPDX-License-Identifier: Apache-2.0
// One page from result documents: HTML that contains everything (style, drawings, script). It loads nothing from the
// network and is readable without its script. docs/report.md says how to read it.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {

using observe::json;

/// Says in one line which document is not valid, and why.
struct report_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A result document with the name by which the user knows it.
struct source {
  std::string name;
  json document;
};

/// Parses the text of a document. Throws report_error if it is not JSON, or not a result document of schema 1.
source read(std::string name, std::string_view text);

/// Makes the page. Every text of the documents is escaped. Requires: at least one source. Throws report_error if a
/// member of a document has another type than in docs/result.schema.json.
std::string page(const std::vector<source>& sources);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report

// SPDX-License-Identifier: Apache-2.0
// Machine files: the models of machines, each number with where it is from. docs/machines.md is the manual.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sim/model.hpp"
#include "sim/models/field.hpp"

namespace txsync::sim {

/// What a machine could not be read for, in one line: "FILE:LINE: what; allowed: ...".
struct machine_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// How well a number is known, the best first.
enum class confidence : std::uint8_t {
  read,      ///< in the source that is named
  measured,  ///< by this project or the one that the source names, on such a machine or on one near to it
  computed,  ///< from other numbers, from a fit, or by definition; the source says how
  recalled,  ///< from a publication, as remembered: check before quoting
  estimate,  ///< nobody has published it: a knob of calibration
};

/// "read", "measured", "computed", "recalled" or "estimate".
const char* to_string(confidence how) noexcept;

/// Where one number of a model is from.
struct provenance {
  std::string source;
  confidence how = confidence::estimate;
  unsigned line = 0;  ///< in the file
};

/// A machine as its file says it.
struct machine {
  std::string name;   ///< the file's, without ".toml"
  std::string title;  ///< one line
  std::vector<std::string> notes;
  std::string file;
  machine_model model;
  std::vector<provenance> from;  ///< as many as fields(), in their order
};

/// Reads a machine file. Throws machine_error for all that is unknown, missing, out of range or impossible.
machine read_machine(const std::string& path);

/// The same for a text; `source` is what errors name, and `name` what the text must say that it is.
machine parse_machine(std::string_view text, const std::string& source, const std::string& name);

/// A name of machine_names(), or a file: whatever has a '/' or ends in ".toml". Throws machine_error.
machine load_machine(const std::string& name_or_file);

/// The machines that can be told by name, sorted: the files *.toml of the folder that TXSYNC_MACHINES names in the
/// environment, and of the installed or built one. Of two with the same name the former's counts. Throws machine_error
/// when TXSYNC_MACHINES names no folder.
std::vector<std::string> machine_names();

/// What its hardware transactions are, in words: "none", "writes in the L1, HLE", ...
std::string htm_words(const machine_model& model);

}  // namespace txsync::sim

// SPDX-License-Identifier: Apache-2.0
// Machine files: the models of machines, each number with its source. docs/machines.md is the manual.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sim/model.hpp"
#include "sim/models/field.hpp"

namespace txsync::sim {

/// Why a machine could not be read, in one line: "FILE:LINE: what; allowed: ...".
struct machine_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// How well a number is known, the best first.
enum class confidence : std::uint8_t {
  read,      ///< in the named source
  measured,  ///< by this project or by the named source, on such a machine or a similar one
  computed,  ///< from other numbers, from a fit, or by definition; the source says how
  recalled,  ///< from a publication, from memory: check before quoting
  estimate,  ///< nobody has published it; a parameter of calibration
};

/// "read", "measured", "computed", "recalled" or "estimate".
const char* to_string(confidence how) noexcept;

/// Where one number of a model comes from.
struct provenance {
  std::string source;
  confidence how = confidence::estimate;
  unsigned line = 0;  ///< in the file
};

/// A machine as its file describes it.
struct machine {
  std::string name;   ///< the name of the file without ".toml"
  std::string title;  ///< one line
  std::vector<std::string> notes;
  std::string file;
  machine_model model;
  std::vector<provenance> from;  ///< one for each of fields(), in their order
};

/// Reads a machine file. Throws machine_error for anything unknown, missing, out of range or impossible.
machine read_machine(const std::string& path);

/// The same for a text. Errors name `source` as the file. The text must say that its name is `name`.
machine parse_machine(std::string_view text, const std::string& source, const std::string& name);

/// A name of machine_names(), or a file: anything that contains a '/' or ends in ".toml". Throws machine_error.
machine load_machine(const std::string& name_or_file);

/// The names of the known machines, sorted. They are the files *.toml in the folder given by the environment variable
/// TXSYNC_MACHINES, and in the installed or built folder. Of two files with the same name, the former folder's counts.
/// Throws machine_error if TXSYNC_MACHINES does not name a folder.
std::vector<std::string> machine_names();

/// The hardware transactions of a machine in words: "none", "writes in the L1, HLE", ...
std::string htm_words(const machine_model& model);

}  // namespace txsync::sim

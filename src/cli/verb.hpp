// SPDX-License-Identifier: Apache-2.0
// What a verb of the command line is. A verb has a file of its own, verb_NAME.cpp, that defines one class derived from
// `verb` and one function that makes it; verbs.cpp lists these functions.
#pragma once

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "observe/document/document.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace txsync::inline TXSYNC_BACKEND::cli {

/// The user asked for something that cannot be. One line: what, where, what is allowed. Exit status 2.
struct bad_input : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The exit statuses of every verb (those of `run` apart).
enum status : int { ok = 0, failed = 1, misused = 2 };

/// What a verb works with while it runs.
struct session {
  /// For people: the standard output, or the standard error when the document goes to the standard output.
  std::FILE* table = stdout;
  /// What stands behind "--", untouched: the program of verbs that take one. Empty without.
  std::vector<std::string> program;
  /// Command, tool, machine and start are filled; the verb adds the rest. Written when run() comes back, whatever
  /// status it answers, if the user asked for it by --json.
  observe::document document;
};

class verb {
 public:
  virtual ~verb() = default;

  virtual const char* name() const = 0;
  virtual const char* summary() const = 0;  ///< one line of `txsync --help`
  /// Adds the verb's own options, by the functions of options.hpp. Texts rather than numbers, so that run() can say in
  /// one line what is allowed;
  /// `--json` is there already.
  virtual void define(CLI::App& app) = 0;
  /// Whether a program and its arguments may stand behind "--".
  virtual bool takes_program() const { return false; }
  /// Does it and answers the exit status. Everything that can be checked is checked before the first long step and
  /// before the first line of output. Throws bad_input.
  virtual int run(session& with) = 0;
};

using verb_list = std::vector<std::unique_ptr<verb>>;

/// All verbs, in the order of `txsync --help`.
verb_list all_verbs();

}  // namespace txsync::inline TXSYNC_BACKEND::cli

// SPDX-License-Identifier: Apache-2.0
// What a verb of the command line is. Each verb has its own file, verb_NAME.cpp. It defines one class derived from
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

namespace txsync::TXSYNC_INLINE_BACKEND::cli {

/// The exit statuses of every verb except `run`.
enum status : int { ok = 0, failed = 1, misused = 2 };

/// What a verb works with while it runs.
struct session {
  /// For people: standard output, or standard error if the document goes to standard output.
  std::FILE* table = stdout;
  /// What stands after "--", unchanged: the program, for verbs that take one. Empty without it.
  std::vector<std::string> program;
  /// Command, tool, machine and start are filled; the verb adds the rest. It is written when run() returns, with any
  /// status, if the user asked for it by --json.
  observe::document document;
};

class verb {
 public:
  virtual ~verb() = default;

  virtual const char* name() const = 0;
  virtual const char* summary() const = 0;  ///< one line of `txsync --help`
  /// Adds the verb's own options, by the functions of options.hpp. They are texts rather than numbers, so that run()
  /// can say in one line what is allowed. `--json` is there already.
  virtual void define(CLI::App& app) = 0;
  /// Whether a program and its arguments may stand after "--".
  virtual bool takes_program() const { return false; }
  /// Runs the verb and returns the exit status. Everything that can be checked is checked before the first long step
  /// and before the first line of output. Throws bad_input.
  virtual int run(session& with) = 0;
};

using verb_list = std::vector<std::unique_ptr<verb>>;

/// All verbs, in the order of `txsync --help`.
verb_list all_verbs();

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli

// SPDX-License-Identifier: Apache-2.0
// The command: finds the verb, passes it its options, writes the document. Here all errors become one line.
#include "cli/command.hpp"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <optional>

#include "base/bad_input.hpp"
#include "base/print.hpp"
#include "base/words.hpp"
#include "cli/verb.hpp"
#include "doctor/machine_object.hpp"
#include "launch/child.hpp"
#include "observe/document/output.hpp"
#include "observe/document/printable.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
using base::bad_input;
using base::join;
using base::unknown;
using base::words;

namespace {

/// What the verbs share.
struct common {
  std::optional<std::string> json;
};

std::string version_line() {
  const observe::tool_record tool = observe::this_tool();
  return fmt::format("txsync {} (commit {}, {}, {}{}{})", tool.version, tool.commit, tool.compiler, tool.build_type,
                     tool.sanitizers.empty() ? "" : ", sanitizers ", tool.sanitizers);
}

void define(CLI::App& app, const verb_list& verbs, common& shared) {
  app.name("txsync");
  app.description("Profile, tune, measure and simulate the locks of multithreaded programs.");
  app.set_version_flag("--version", version_line(), "Print which build this is, and exit");
  app.set_help_flag("-h,--help", "Print this help, and exit; also after a verb");
  app.get_formatter()->column_width(26);
  app.get_formatter()->label("REQUIRED", "");
  app.get_formatter()->label("SUBCOMMAND", "VERB");
  app.footer(
      fmt::format("txsync VERB --help describes a verb. Whole numbers may end in {}.\n"
                  "Exit status: 0 done, 1 the run failed, 2 the command line was wrong.",
                  base::number_endings()));
  app.allow_extras();
  app.require_subcommand(0, 1);  // what follows a verb belongs to it, even if it is another verb's name
  for (const auto& verb : verbs) {
    CLI::App* sub = app.add_subcommand(verb->name(), verb->summary());
    sub->group("Verbs");
    sub->allow_extras();
    verb->define(*sub);
    const auto store = [&shared](const std::string& file) { shared.json = file; };
    sub->add_option_function<std::string>("--json", store, "Also write a result document; - is the standard output")
        ->type_name("FILE");
  }
}

words verb_names(const verb_list& verbs) {
  words names;
  for (const auto& verb : verbs) names.emplace_back(verb->name());
  return names;
}

words option_names(const CLI::App& app) {
  words names;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_lnames().empty()) names.push_back("--" + option->get_lnames().front());
  }
  return names;
}

/// The verb of the parsed line. Throws bad_input.
verb& chosen(const CLI::App& app, const verb_list& verbs) {
  const auto parsed = app.get_subcommands();
  for (const std::string& word : app.remaining()) {
    const bool option = word.starts_with('-');
    throw bad_input(unknown(option ? "option" : "verb", word, option ? option_names(app) : verb_names(verbs)));
  }
  if (parsed.empty()) throw bad_input("a verb is missing; allowed: " + join(verb_names(verbs)));
  for (const std::string& word : parsed[0]->remaining()) {
    throw bad_input(word.starts_with('-')
                        ? unknown("option", word.substr(0, word.find('=')), option_names(*parsed[0]))
                        : fmt::format("unexpected argument '{}'; see txsync {} --help", word, parsed[0]->get_name()));
  }
  for (const auto& verb : verbs) {
    if (parsed[0]->get_name() == verb->name()) return *verb;
  }
  throw std::logic_error("a verb without a class");
}

/// The source of a message: "txsync" or "txsync VERB".
std::string speaker(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? "txsync" : "txsync " + parsed[0]->get_name();
}

/// Returns `status`, for the caller to return.
int complain(const std::string& who, std::string what, int status) {
  for (char& letter : what) letter = letter == '\n' ? ' ' : letter;
  std::fflush(stdout);
  base::print(stderr, "{}: {}\n", who, observe::printable(what));
  return status;
}

int run(verb& verb, const common& shared, words command, words program) {
  if (!program.empty() && !verb.takes_program()) {
    throw bad_input(fmt::format("this verb takes no program after '--'; see txsync {} --help", verb.name()));
  }
  std::optional<observe::output> output;
  try {
    if (shared.json) output.emplace(*shared.json);
  } catch (const observe::output_error& error) {
    throw bad_input("--json: " + std::string(error.what()));
  }
  session with;
  if (output && output->is_standard_output()) with.table = stderr;
  with.program = std::move(program);
  with.document.command = std::move(command);
  with.document.started = observe::utc_now();
  if (output) with.document.machine = doctor::machine_object(doctor::collect());
  const int status = verb.run(with);
  if (output) output->write(with.document);
  return status;
}

/// Says in one line what CLI11 found wrong.
std::string parse_complaint(const CLI::App& app, const CLI::ParseError& error) {
  std::string line = error.what();
  const auto parsed = app.get_subcommands();
  const CLI::App& where = parsed.empty() ? app : *parsed[0];
  const CLI::Option* option = where.get_option_no_throw(line.substr(0, line.find(':')));
  if (option != nullptr) {
    line =
        option->get_name() + (option->count() > 1 ? " is given twice" : " needs a value: " + option->get_description());
  }
  return line;
}

int run_command_line(int argc, char** argv) {
  const verb_list verbs = all_verbs();
  CLI::App app;
  common shared;
  define(app, verbs, shared);
  // The parser would remove brackets and commas from a program's arguments.
  char** const end = argv + argc;
  char** const dashes = std::find_if(argv, end, [](const char* word) { return std::strcmp(word, "--") == 0; });
  const words program(std::min(dashes + 1, end), end);
  try {
    app.parse(static_cast<int>(dashes - argv), argv);
    return run(chosen(app, verbs), shared, words(argv, end), program);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return complain(speaker(app), parse_complaint(app, error), misused);
  } catch (const bad_input& error) {
    return complain(speaker(app), error.what(), misused);
  } catch (const std::exception& error) {
    return complain(speaker(app), error.what(), failed);
  }
}

}  // namespace

int run_command(int argc, char** argv) try {
  // A reader that ends early (`txsync list locks | head -1`) ends the output by a write error, not by a signal.
  launch::ignore_in_this_process(SIGPIPE);
  // So does a file that would exceed its limit (ulimit -f).
  launch::ignore_in_this_process(SIGXFSZ);
  const int status = run_command_line(argc, argv);
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  if (errno != EPIPE) complain("txsync", std::string("cannot write the standard output: ") + std::strerror(errno), 0);
  return std::max<int>(status, failed);
} catch (...) {  // no memory, not even for a complaint
  std::fputs("txsync: out of memory\n", stderr);
  return failed;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli

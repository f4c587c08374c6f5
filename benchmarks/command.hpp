// SPDX-License-Identifier: Apache-2.0
// The command line of a benchmark.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <txsync_backend/name.hpp>

#include "base/words.hpp"
#include "observe/document/document.hpp"
#include "observe/document/output.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// Has an option's whole number end as those of the command may: what CLI11 reads and checks then is in digits.
inline void take_endings(CLI::Option& option) {
  const std::string type = option.get_type_name();  // "UINT", or with its range "UINT:INT in [1 - 1000]"
  if (!type.starts_with("UINT") && !type.starts_with("INT")) return;
  const std::string range = type.find(':') == std::string::npos ? "" : "; allowed: " + type.substr(type.find(':') + 1);
  const auto to_digits = [range](std::string& text) -> std::string {
    const auto number = base::parse_number(text);
    if (!number) return "'" + text + "' is not a number, which may end in " + base::number_endings() + range;
    text = std::to_string(*number);
    return {};
  };
  option.transform(CLI::Validator(to_digits, ""));
}

/// Takes the options apart. Throws CLI::ParseError.
inline void parse_options(CLI::App& app, int count, char** words) {
  for (CLI::Option* const option : app.get_options()) take_endings(*option);
  if (app.get_footer().empty()) app.footer("Numbers may end in " + base::number_endings() + ".");
  app.parse(count, words);
}

/// A line for each claim.
inline void print_claims(const std::vector<observe::claim>& claims, std::FILE* out) {
  for (const observe::claim& one : claims) {
    std::fprintf(out, "%s %s: %s", one.id.c_str(), one.words.c_str(), one.value.dump().c_str());
    if (one.value_interval) std::fprintf(out, " [%.3f, %.3f]", one.value_interval->low95, one.value_interval->high95);
    std::fprintf(out, ", goal %s: %s\n", one.goal.dump().c_str(), observe::verdict_text(one));
  }
}

/// Of an option whose words are right, and what they ask for is not there: exit status 2.
struct bad_request : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Keeps of the items those that the names name, in their order; all where there are no names. Throws bad_request.
template <class Item, class Name>
void keep_named(std::vector<Item>& items, const std::vector<std::string>& names, const char* kind, Name name_of) {
  if (names.empty()) return;
  std::vector<Item> kept;
  for (const std::string& name : names) {
    const std::size_t before = kept.size();
    std::string known;
    for (const Item& item : items) {
      if (name == name_of(item)) kept.push_back(item);
      known += (known.empty() ? "" : ", ") + std::string(name_of(item));
    }
    if (kept.size() == before) throw bad_request("no " + std::string(kind) + " '" + name + "'; there are: " + known);
  }
  items = std::move(kept);
}

/// Parses the options and runs bench(words of the command line). Returns the exit status: 2 for bad options and for
/// files that cannot be written, 1 after any other exception. Each comes with one line that begins with `name`.
template <class Bench>
int run_command(CLI::App& app, const char* name, int count, char** words, Bench bench) {
  const auto complain = [name](const std::exception& error, int status) {
    const char* const what = error.what();
    std::fprintf(stderr, "%s: %.*s\n", name, static_cast<int>(std::strcspn(what, "\n")), what);
    return status;
  };
  try {
    parse_options(app, count, words);
    return bench(std::vector<std::string>(words, words + count));
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? app.exit(error) : complain(error, 2);
  } catch (const bad_request& error) {
    return complain(error, 2);
  } catch (const observe::output_error& error) {
    return complain(error, 2);
  } catch (const std::exception& error) {
    return complain(error, 1);
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

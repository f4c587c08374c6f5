// SPDX-License-Identifier: Apache-2.0
// The command line of a benchmark.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::benchmarks {

/// Takes the options apart and runs bench(words of the command line). Answers the exit status: 2 for bad options, 1
/// where an exception came out, each with one line that begins with `name`.
template <class Bench>
int run_command(CLI::App& app, const char* name, int count, char** words, Bench bench) {
  try {
    app.parse(count, words);
    return bench(std::vector<std::string>(words, words + count));
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? app.exit(error) : (std::fprintf(stderr, "%s: %s\n", name, error.what()), 2);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
}

}  // namespace txsync::inline TXSYNC_BACKEND::benchmarks

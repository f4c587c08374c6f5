// SPDX-License-Identifier: Apache-2.0
#include "cli/options.hpp"

#include <CLI/CLI.hpp>

#include "base/words.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
using base::words;

void text_option(CLI::App& app, const char* name, std::optional<std::string>& into, const char* type,
                 const char* meaning) {
  const auto store = [&into](const std::string& value) { into = value; };
  app.add_option_function<std::string>(name, store, meaning)->type_name(type);
}

void text_option(CLI::App& app, const char* name, std::string& into, const char* type, const char* meaning) {
  const auto store = [&into](const std::string& value) { into = value; };
  app.add_option_function<std::string>(name, store, meaning)->type_name(type);
}

void flag(CLI::App& app, const char* name, bool& into, const char* meaning) { app.add_flag(name, into, meaning); }

void argument(CLI::App& app, const char* name, std::string& into, const std::string& meaning) {
  app.add_option(name, into, meaning)->type_name("");
}

void argument(CLI::App& app, const char* name, words& into, const std::string& meaning) {
  app.add_option(name, into, meaning)->type_name("");
}

void footer(CLI::App& app, const char* text) { app.footer(text); }

void workload_arguments(CLI::App& app, std::string& workload, words& settings) {
  argument(app, "WORKLOAD", workload, "Workload to run; txsync list workloads prints all, with their parameters");
  argument(app, "KEY=VALUE", settings,
           "Parameters of the workload; whole numbers, also of options, may end in " + base::number_endings());
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli

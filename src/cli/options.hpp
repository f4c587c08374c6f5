// SPDX-License-Identifier: Apache-2.0
// Options of verbs. They are taken as texts, so that an error can be reported in one line. Among the verbs' sources
// only options.cpp includes CLI11, whose header takes longer to compile than everything that uses it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <txsync_backend/name.hpp>

#include "base/words.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace txsync::TXSYNC_INLINE_BACKEND::cli {

/// An option with a value. Uses a function, because CLI11 takes an empty text for an absent option.
void text_option(CLI::App& app, const char* name, std::optional<std::string>& into, const char* type,
                 const char* meaning);
/// The same with a value for an absent option: what `into` holds.
void text_option(CLI::App& app, const char* name, std::string& into, const char* type, const char* meaning);

/// An option without a value.
void flag(CLI::App& app, const char* name, bool& into, const char* meaning);

/// Arguments without a dash: one word, or all that are left.
void argument(CLI::App& app, const char* name, std::string& into, const std::string& meaning);
void argument(CLI::App& app, const char* name, base::words& into, const std::string& meaning);

/// What the help says below the options.
void footer(CLI::App& app, const char* text);

/// The arguments of a verb that runs a workload: its name, and its parameters.
void workload_arguments(CLI::App& app, std::string& workload, base::words& settings);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli

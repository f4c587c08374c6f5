// SPDX-License-Identifier: Apache-2.0
// Options of verbs: taken as texts, so that what is wrong with one can be said in one line.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include <txsync_backend/name.hpp>

#include "cli/words.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {

/// An option with a value. By function: CLI11 takes an empty text for an absent option.
void text_option(CLI::App& app, const char* name, std::optional<std::string>& into, const char* type,
                 const char* meaning);

/// What stands without a dash: the workload, and its parameters.
void workload_arguments(CLI::App& app, std::string& workload, words& settings);

/// The number that an option says, `fallback` where it is not there. Throws bad_input.
std::uint64_t number_of(const char* option, const std::optional<std::string>& text, std::uint64_t least,
                        std::uint64_t greatest, std::uint64_t fallback);

}  // namespace txsync::inline TXSYNC_BACKEND::cli

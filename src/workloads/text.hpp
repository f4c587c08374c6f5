// SPDX-License-Identifier: Apache-2.0
// Parameters as text, for the command line and for results. Host only: not part of the simulated machine's image.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "workloads/workload.hpp"

namespace txsync::inline TXSYNC_BACKEND::workloads {

/// A number as the command lines take it: digits, and behind them nothing, K, M or G (decimal), or Ki, Mi or Gi.
/// Nothing for all else, signs and blanks too, and for what does not fit.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// What such a number may end in, as helps and errors say it: "K, M, G, ...".
std::string number_endings();

/// Sets one parameter from "key=value", or all of a preset from "preset=name". Answers an empty string, or one sentence
/// that says what is wrong and what is allowed; then `values` is unchanged. Values that contradict each other are
/// complaint()'s business, after the last assignment.
[[nodiscard]] std::string assign(const workload& which, std::string_view assignment, parameters& values);

/// The value as results print it: a name or a file's path where the parameter has such, else the number.
std::string value_text(const parameter& key, std::uint64_t value);

/// The values that the parameter allows: "0..4096", "low|high" or "none|PATH".
std::string allowed_text(const parameter& key);

}  // namespace txsync::inline TXSYNC_BACKEND::workloads

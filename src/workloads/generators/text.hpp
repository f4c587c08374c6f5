// SPDX-License-Identifier: Apache-2.0
// Parameters as text, for the command line and for results. Host only: not part of the simulated machine's image.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

/// Sets one parameter from "key=value", or all of a preset from "preset=name". Returns an empty string, or one sentence
/// that says what is wrong and what is allowed; then `values` is unchanged. It does not check whether values contradict
/// each other; complaint() does that after the last assignment.
[[nodiscard]] std::string assign(const workload& which, std::string_view assignment, parameters& values);

/// The value in the form of results: a name or a file's path if the parameter has such values, otherwise the number.
std::string value_text(const parameter& key, std::uint64_t value);

/// The allowed values of the parameter: "0..4096", "low|high" or "none|PATH".
std::string allowed_text(const parameter& key);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

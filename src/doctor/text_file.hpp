// SPDX-License-Identifier: Apache-2.0
// The system's small text files, as strings.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::doctor {

/// The file's text without trailing white space; empty if it cannot be read.
std::string text_of(const std::string& path);

/// The file's text as a number, decimal or with 0x; nothing if it cannot be read or is not a number.
std::optional<unsigned> number_of(const std::string& path);

/// The CPU numbers of a list such as "0-3,8". The first part that is not understood ends the list.
std::vector<unsigned> cpu_list(std::string_view text);

/// The value of the first line of /proc/cpuinfo that starts with `key`; empty if there is none.
std::string cpuinfo_value(std::string_view cpuinfo, std::string_view key);

/// The value of the last `key=value` on a kernel command line; empty if there is none.
std::string command_line_value(std::string_view line, std::string_view key);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::doctor

// SPDX-License-Identifier: Apache-2.0
#include "report/profile_files.hpp"

#include <fmt/core.h>

namespace txsync::TXSYNC_INLINE_BACKEND::report {
namespace {

/// A name as one frame: a semicolon would end it.
std::string frame(std::string name) {
  for (char& letter : name) letter = letter == ';' ? ':' : letter;
  return name;
}

}  // namespace

std::string folded_file(const launch::result& result) {
  std::string text;
  for (const launch::blame& one : result.wait_chains) {
    const std::uint64_t microseconds = (one.wait_ns + 500) / 1000;
    if (microseconds == 0) continue;
    for (const launch::named_call& call : one.calls)
      text += (&call == &one.calls.front() ? "" : ";") + frame(call.name);
    text += fmt::format(" {}\n", microseconds);
  }
  return text;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report

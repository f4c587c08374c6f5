// SPDX-License-Identifier: Apache-2.0
// Replaces program_policy.cpp in a library that was built without toml++.
#include <txsync/load_policy.hpp>
#include <txsync/machine/environment.hpp>

#include "observe/outside.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND {

namespace {
constexpr const char* why = "this txsync reads no policy files: it was built without toml++ (libtomlplusplus-dev)";

[[gnu::constructor(102)]] void say_so() noexcept {
  if (machine::environment("TXSYNC_POLICY") == nullptr) return;
  constexpr char line[] =
      "txsync: TXSYNC_POLICY: this txsync reads no policy files: it was built without toml++ (libtomlplusplus-dev)\n";
  machine::complain(line, sizeof line - 1);
}
}  // namespace

std::string load_policy(const char*) noexcept { return why; }

namespace observe {

partial_policy policy_from_files(const char*) noexcept { return {}; }
std::uint32_t files_read() noexcept { return 0; }

}  // namespace observe

}  // namespace txsync::TXSYNC_INLINE_BACKEND

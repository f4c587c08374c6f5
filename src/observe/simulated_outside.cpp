// SPDX-License-Identifier: Apache-2.0
// The outside of a simulated program: whoever runs it may set policies of its named sites, as simulated_policies.hpp says.
#include <cstring>

#include <txsync/machine/environment.hpp>

#include "observe/outside.hpp"
#include "observe/simulated_policies.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

namespace {

constinit bool is_set = false;

// Runs when the program is loaded, before its memory belongs to the machine. Without policies, a run never looks again.
[[gnu::constructor(101)]] void look() noexcept {
  is_set = machine::environment(simulated_policies_variable) != nullptr;
}

/// Reads a number of base 16 or 10, and the space after it.
std::uint32_t read_number(const char*& at, unsigned base) noexcept {
  std::uint32_t number = 0;
  while (*at != 0 && *at != ' ') {
    const auto digit = static_cast<unsigned>(*at <= '9' ? *at - '0' : *at - 'a' + 10);
    number = number * base + digit;
    ++at;
  }
  if (*at != 0) ++at;
  return number;
}

}  // namespace

outside_number number_from_outside(const char*, std::uint32_t) noexcept { return {.takes_policies = is_set}; }
void open_outside() noexcept {}
void announce_outside() noexcept {}

partial_policy policy_from_files(const char* name) noexcept {
  const char* at = is_set ? machine::environment(simulated_policies_variable) : nullptr;
  if (at == nullptr) return {};
  const std::size_t length = std::strlen(name);
  partial_policy found;
  for (bool is_first = true; *at != 0; is_first = false) {
    partial_policy entry;
    entry.word = read_number(at, 16);
    entry.mask = read_number(at, 16);
    const std::size_t its_length = read_number(at, 10);
    if (is_first) found = entry;
    if (!is_first && its_length == length && std::memcmp(at, name, length) == 0) return entry;
    at += its_length;
  }
  return found;
}

std::uint32_t files_read() noexcept { return 0; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe

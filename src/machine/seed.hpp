// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>

#include <txsync/machine/environment.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {

/// TXSYNC_SEED, if it is a number.
inline std::optional<std::uint64_t> seed_from_environment() noexcept {
  const char* const given = environment("TXSYNC_SEED");
  if (given == nullptr || *given == '\0') return std::nullopt;
  char* rest = nullptr;
  const unsigned long long seed = std::strtoull(given, &rest, 0);
  return *rest == '\0' ? std::optional<std::uint64_t>(seed) : std::nullopt;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail

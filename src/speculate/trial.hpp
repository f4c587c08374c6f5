// SPDX-License-Identifier: Apache-2.0
// Whether elision pays for a role, by trying: all its threads run sections both ways for a while.
#pragma once

#include <cstdint>

#include <txsync/speculate/elision.hpp>

namespace txsync::inline TXSYNC_BACKEND {

/// Four parts by turns: elided, locked, elided, locked. Of each way the better part counts, since a part may have been
/// disturbed from outside. Threads report sections in batches, and whoever finds a part long enough begins the next.
class elision_trial {
 public:
  static constexpr std::uint32_t batch = 64;  ///< sections of a thread between two looks

  /// One look by a thread that has begun `batch` sections since its last. Outside attempts.
  static void look(elision& how) noexcept;

 private:
  static constexpr std::uint32_t parts = 4;
  static constexpr std::uint32_t changing = 1u << 31;  ///< a thread is about to begin the next part
  static constexpr std::uint64_t no_time = ~std::uint64_t{0};
  static constexpr std::uint32_t most_agreed = 6;

  static bool is_locked(std::uint32_t part) noexcept { return part % 2 == 0; }
  static void begin(elision& how, std::uint64_t now) noexcept;
  static void end_part(elision& how, std::uint32_t part, std::uint64_t now) noexcept;
  static void decide(elision& how, std::uint64_t now) noexcept;
};

}  // namespace txsync::inline TXSYNC_BACKEND

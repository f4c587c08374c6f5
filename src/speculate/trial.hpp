// SPDX-License-Identifier: Apache-2.0
// Whether elision pays for a role, by trying.
#pragma once

#include <cstdint>

#include <txsync/speculate/elision.hpp>

namespace txsync::inline TXSYNC_BACKEND {

/// First the role's sections are elided for a window of time or two. If so many committed that one after the other,
/// each as short as the shortest, they would have taken longer, no lock can do as much: that settles it. Otherwise the
/// lock is taken for two windows, the first of which lets threads settle, and the way that did more is kept until the
/// next trial. Threads report their sections in batches, and whoever finds a window long enough begins the next.
class elision_trial {
 public:
  /// One look by a thread that has begun section_log::batch sections since its last. Outside attempts.
  static void look(elision& how) noexcept;

 private:
  struct seen {
    std::uint64_t took = 0;                      ///< cycles
    std::uint64_t sections = 0;                  ///< 256 for each
    std::uint64_t shortest = ~std::uint64_t{0};  ///< cycles of an attempt that committed
  };

  static void add(elision& how, std::uint64_t since, std::uint64_t last, std::uint64_t now) noexcept;
  static std::uint64_t sections_of(const elision& how) noexcept;
  static seen take_tallies(elision& how) noexcept;
  static std::uint32_t end_window(elision& how, std::uint32_t part, std::uint64_t now) noexcept;
  static std::uint32_t decide(elision& how, bool locked, std::uint64_t now) noexcept;
};

}  // namespace txsync::inline TXSYNC_BACKEND

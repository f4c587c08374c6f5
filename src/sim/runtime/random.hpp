// SPDX-License-Identifier: Apache-2.0
// The simulation's own random numbers: xorshift64* (Marsaglia 2003; Vigna 2016), seeded through splitmix64.
#pragma once

#include <cstdint>

namespace txsync::sim {

class seeded_random {
 public:
  void seed(std::uint64_t value) noexcept {
    value += 0x9E3779B97F4A7C15u;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
    state_ = (value ^ (value >> 31)) | 1;
  }
  std::uint64_t next() noexcept {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1Du;
  }
  /// In [0, bound).
  std::uint64_t below(std::uint64_t bound) noexcept {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }

 private:
  std::uint64_t state_ = 1;
};

}  // namespace txsync::sim

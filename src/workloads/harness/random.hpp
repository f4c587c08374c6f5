// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <txsync/machine/assert.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

/// The finalizer of splitmix64 (Steele, Lea, Flood 2014): every bit of the input affects every bit of the result.
constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// A hash of a sequence of numbers that depends on their order.
class running_hash {
 public:
  constexpr void add(std::uint64_t number) noexcept { state_ = mix(state_ + 0x9E3779B97F4A7C15u + number); }
  constexpr std::uint64_t value() const noexcept { return state_; }

 private:
  std::uint64_t state_ = 0;
};

/// A stream of random numbers, a splitmix64. Draws do not depend on each other, so a draw costs about a nanosecond.
/// Seeds are hashed with the stream's number, so that streams of neighbouring threads are not shifted copies of each
/// other.
class random_stream {
 public:
  constexpr random_stream(std::uint64_t seed, std::uint64_t number) noexcept : state_(mix(mix(seed) + number)) {}

  constexpr std::uint64_t next() noexcept { return mix(state_ += 0x9E3779B97F4A7C15u); }

  /// A number in [0, bound). Requires: 0 < bound <= 2^32. Uneven by at most bound / 2^32.
  constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    TXSYNC_ASSERT_VALUE(bound != 0 && bound <= std::uint64_t{1} << 32, "the bound is from 1 to 2^32");
    return ((next() >> 32) * bound) >> 32;
  }

  /// True in `chance` of a hundred cases.
  constexpr bool percent(std::uint64_t chance) noexcept { return below(100) < chance; }

 private:
  std::uint64_t state_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

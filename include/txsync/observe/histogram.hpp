// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

/// How durations are sorted into buckets. Values below 2^StepBits have a bucket each. Above that, there are 2^StepBits
/// buckets for each power of two. Values of 2^(StepBits + Powers) and more count in the last bucket.
template <unsigned StepBits, unsigned Powers>
struct log_linear {
  static constexpr std::size_t steps = std::size_t{1} << StepBits;
  static constexpr std::size_t count = steps * (std::size_t{Powers} + 1);

  static constexpr std::size_t index_of(std::uint64_t value) noexcept {
    if (value < steps) return value;
    const unsigned power = static_cast<unsigned>(std::bit_width(value)) - 1;
    const std::size_t step = (value >> (power - StepBits)) - steps;
    const std::size_t index = (power - StepBits + 1) * steps + step;
    return index < count ? index : count - 1;
  }
  /// The smallest value of a bucket.
  static constexpr std::uint64_t floor_of(std::size_t index) noexcept {
    if (index < steps) return index;
    return std::uint64_t{steps + index % steps} << (index / steps - 1);
  }
  /// The value that represents a bucket: its middle.
  static constexpr std::uint64_t middle_of(std::size_t index) noexcept {
    return index + 1 < count ? (floor_of(index) + floor_of(index + 1) - 1) / 2 : floor_of(index);
  }
};

/// The buckets of a site's durations: up to 2^42 ns (73 minutes), read back within 12.5 %.
using buckets = log_linear<2, 40>;

/// A histogram of durations, written by one thread and read by any. No allocation; 656 bytes.
class histogram {
 public:
  /// Requires: called by the owning thread only.
  void add(std::uint64_t value, std::uint32_t weight = 1) noexcept {
    std::atomic<std::uint32_t>& slot = slots_[buckets::index_of(value)];
    // relaxed: one writer, and readers take each count as it is
    slot.store(slot.load(std::memory_order_relaxed) + weight, std::memory_order_relaxed);
  }
  std::uint32_t at(std::size_t index) const noexcept { return slots_[index].load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> slots_[buckets::count] = {};
};

/// The sum of histograms over threads; plain numbers.
struct histogram_total {
  std::uint64_t slots[buckets::count] = {};

  void add(const histogram& part) noexcept {
    for (std::size_t i = 0; i < buckets::count; ++i) slots[i] += part.at(i);
  }
  std::uint64_t count() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t slot : slots) sum += slot;
    return sum;
  }
  /// The value below which `part` (0..1) of the counted durations lie; 0 if nothing was counted.
  std::uint64_t percentile(double part) const noexcept {
    const std::uint64_t total = count();
    if (total == 0) return 0;
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < buckets::count; ++i) {
      below += slots[i];
      if (static_cast<double>(below) >= part * static_cast<double>(total)) return buckets::middle_of(i);
    }
    return buckets::floor_of(buckets::count - 1);
  }
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe

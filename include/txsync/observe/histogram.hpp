// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <txsync/machine/assert.hpp>
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

/// Plain numbers: durations of one thread, or a sum over threads. Not thread-safe.
template <class Buckets, class Count = std::uint64_t>
struct plain_histogram {
  Count slots[Buckets::count] = {};

  void add(std::uint64_t value) noexcept { ++slots[Buckets::index_of(value)]; }
  /// Adds another histogram with the same buckets.
  template <class Histogram>
  void merge(const Histogram& other) noexcept {
    for (std::size_t i = 0; i < Buckets::count; ++i) slots[i] += other.at(i);
  }
  Count at(std::size_t index) const noexcept { return slots[index]; }
  std::uint64_t count() const noexcept {
    std::uint64_t sum = 0;
    for (const Count slot : slots) sum += slot;
    return sum;
  }
  /// The value that `part` of the counted durations do not exceed, as the middle of its bucket; 0 if nothing was
  /// counted. Requires: 0 <= part <= 1. For p99.9, `part` is 0.999.
  std::uint64_t percentile(double part) const noexcept {
    TXSYNC_ASSERT_VALUE(part >= 0 && part <= 1, "a percentile is a part of all durations");
    const std::uint64_t all = count();
    if (all == 0) return 0;
    std::size_t index = 0;
    for (std::uint64_t below = slots[0]; below == 0 || static_cast<double>(below) < part * static_cast<double>(all);)
      below += slots[++index];
    return Buckets::middle_of(index);
  }
};
using histogram_total = plain_histogram<buckets>;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include <txsync/machine/assert.hpp>
#include <txsync/observe/histogram.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

/// How many sampled operations took how long, in log-linear buckets. Below 16 ns there is one bucket per nanosecond,
/// above that 16 buckets for each power of two. So a bucket is at most 1/16 wider than its lower bound. A plain record
/// of fixed size. It is not thread-safe: each thread has its own, and they are merged at the end.
struct latency_histogram {
  using layout = observe::log_linear<4, 36>;  // up to 2^40 ns, 18 minutes
  static constexpr unsigned buckets = layout::count;

  std::array<std::uint32_t, buckets> counts{};

  static constexpr unsigned bucket_of(std::uint64_t ns) noexcept { return static_cast<unsigned>(layout::index_of(ns)); }

  /// The smallest duration that is counted in the bucket, in nanoseconds.
  static constexpr std::uint64_t lower_bound(unsigned bucket) noexcept { return layout::floor_of(bucket); }

  void add(std::uint64_t ns) noexcept { ++counts[bucket_of(ns)]; }

  void merge(const latency_histogram& other) noexcept {
    for (unsigned i = 0; i < buckets; ++i) counts[i] += other.counts[i];
  }

  std::uint64_t samples() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint32_t count : counts) sum += count;
    return sum;
  }

  /// The duration in nanoseconds that the fraction `part` of the samples does not exceed, as the lower bound of its
  /// bucket; 0 without samples. Requires: 0 <= part <= 1. For p99.9, `part` is 0.999.
  std::uint64_t quantile(double part) const noexcept {
    TXSYNC_ASSERT_VALUE(part >= 0 && part <= 1, "a quantile is a part of all samples");
    const std::uint64_t all = samples();
    if (all == 0) return 0;
    auto wanted = static_cast<std::uint64_t>(part * static_cast<double>(all));
    if (wanted >= all) wanted = all - 1;
    unsigned bucket = 0;
    for (std::uint64_t passed = counts[0]; passed <= wanted; passed += counts[bucket]) ++bucket;
    return lower_bound(bucket);
  }
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <txsync/observe/histogram.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

/// How many sampled operations took how long. A bucket is at most 1/16 wider than its lower bound; up to 2^40 ns (18
/// minutes). Each thread has its own, and they are merged at the end.
using latency_buckets = observe::log_linear<4, 36>;
using latency_histogram = observe::plain_histogram<latency_buckets, std::uint32_t>;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

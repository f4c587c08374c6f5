// SPDX-License-Identifier: Apache-2.0
// The physical limit of whatever two threads share: how long a cache line takes from one CPU to the other.
#pragma once

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// Nanoseconds from a store of the first thread's CPU to the load of the second's that sees it. That is half of the
/// median round trip between the CPUs of the first two threads of the cells. 0 if there is one CPU, or threads cannot
/// be bound to them. Takes about a millisecond. Virtual machines change it by the minute: ask beside what is measured.
double line_transfer_ns();

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

// SPDX-License-Identifier: Apache-2.0
// Native attempts: one file per architecture; machines without hardware transactions share the generic one.
#pragma once

namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail {
/// How many levels a warm_begin() opens beyond the first.
inline constexpr unsigned warm_extra_depth = 3;
/// Whether an abort leaves memory as it was at begin().
inline constexpr bool aborts_undo_stores = true;
}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine::detail

#include <txsync/machine/race_detector.hpp>

#if defined(__x86_64__)
#include <txsync_backend/x86_64/attempt.hpp>
#elif defined(__powerpc64__)
#include <txsync_backend/ppc64/attempt.hpp>
#elif defined(__s390x__)
#include <txsync_backend/s390x/attempt.hpp>
#else
#include <txsync_backend/generic/attempt.hpp>
#endif

namespace txsync::TXSYNC_INLINE_BACKEND::machine {
inline void abort_busy(const void*) noexcept { abort<attempt_status::code_lock_busy>(); }
inline void store_in_attempt(std::atomic<std::uint64_t>& place, std::uint64_t value) noexcept {
  place.store(value, std::memory_order_release);  // pairs with the acquire of concurrent readers
}
inline void await_attempts() noexcept {}
}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

// SPDX-License-Identifier: Apache-2.0
// Atomic blocks: long ones in software beside hardware attempts, by every algorithm that has both.
#include "explorations/tm_long.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {

using namespace explored;

// The explorations by one algorithm; `length`: of what is read.
#define TXSYNC_LONG_BY(name, how, length, owns_nothing)                                                             \
  explored_by<long_block_test, 3, how>("tm-long-" name, "two write what a long one reads"),                         \
      explored_by<moved_clock_test<length>, 2, how>("tm-long-clock-" name, "one moves the clock under a long one"), \
      explored_by<stuck_block_test<owns_nothing>, 3, how>("tm-beside-long-" name, "two go on beside a long one")

constexpr exploration table[] = {
    TXSYNC_LONG_BY("auto", tm::detail::automatic, records_read, false),
    TXSYNC_LONG_BY("hydctl", tm::detail::hydctl, records_read, false),
    TXSYNC_LONG_BY("hynorec", tm::detail::hynorec, values_read, true),
    TXSYNC_LONG_BY("hytinystm", tm::detail::hytinystm, records_read, false),
    TXSYNC_LONG_BY("hytl2", tm::detail::hytl2, values_read, true),
};
#undef TXSYNC_LONG_BY

}  // namespace

std::span<const exploration> tm_long_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations

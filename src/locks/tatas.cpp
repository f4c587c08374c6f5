// SPDX-License-Identifier: Apache-2.0
#include <txsync/locks/tatas.hpp>

#include "backoff.hpp"

namespace txsync::inline TXSYNC_BACKEND {

namespace {
// Chosen by ./dev bench locks; docs/locks/tatas.md tells how.
constexpr detail::exponential_backoff::limits waiting{
    .first = 64, .longest = 8192, .spin_budget = 200'000, .first_nap_ns = 20'000, .longest_nap_ns = 1'000'000};
}  // namespace

void tatas_lock::lock_slow() noexcept {
  detail::exponential_backoff backoff(waiting);
  do {
    do backoff.wait();
    while (held_.load(std::memory_order_relaxed) != 0);  // relaxed: a look only, the exchange decides
  } while (held_.exchange(1, std::memory_order_acquire) != 0);  // pairs with the release in unlock()
}

}  // namespace txsync::inline TXSYNC_BACKEND

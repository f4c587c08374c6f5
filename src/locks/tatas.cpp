// SPDX-License-Identifier: Apache-2.0
#include <txsync/locks/tatas.hpp>

#include "backoff.hpp"

namespace txsync::inline TXSYNC_BACKEND {

void tatas_lock::lock_slow() noexcept {
  detail::exponential_backoff backoff(detail::spin_lock_waiting);
  do {
    do backoff.wait();
    while (held_.load(std::memory_order_relaxed) != 0);  // relaxed: a look only, the exchange decides
  } while (held_.exchange(1, std::memory_order_acquire) != 0);  // pairs with the release in unlock()
}

}  // namespace txsync::inline TXSYNC_BACKEND

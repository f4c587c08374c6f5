// SPDX-License-Identifier: Apache-2.0
#include "thread_number.hpp"

#include <atomic>

namespace txsync::inline TXSYNC_BACKEND::preload {

constinit thread_local std::uint32_t my_number = no_thread;

std::uint32_t number_thread() noexcept {
  static constinit std::atomic<std::uint32_t> given{0};
  // relaxed: only the number matters. After 2^31 - 2 threads numbers come again.
  std::uint32_t number;
  do number = (given.fetch_add(1, std::memory_order_relaxed) + 1) & no_thread;
  while (number == 0 || number == no_thread);
  return my_number = number;
}

}  // namespace txsync::inline TXSYNC_BACKEND::preload

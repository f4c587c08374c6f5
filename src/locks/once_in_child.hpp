// SPDX-License-Identifier: Apache-2.0
// What a lock has to forget in the child of a fork, where the threads that waited for it do not exist.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/machine/thread.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::detail {

/// Runs forget() in the child of a fork, once for each word `done_for`, which starts as 0. Other threads wait until
/// that is done. Returns false, and does nothing, if it was done before or the process is no child.
template <class Forget>
bool once_in_child(std::atomic<std::uint32_t>& done_for, Forget forget) noexcept {
  const std::uint32_t done = 2 * machine::fork_count();
  if (done == 0) return false;
  const std::uint32_t under_way = done - 1;
  std::uint32_t seen = done_for.load(std::memory_order_acquire);  // pairs with the release below
  if (seen == done) return false;
  do {
    // relaxed: only which thread is first matters
    if (seen != under_way && done_for.compare_exchange_strong(seen, under_way, std::memory_order_relaxed)) {
      forget();
      done_for.store(done, std::memory_order_release);  // pairs with the acquires here
      break;
    }
    machine::yield();
    seen = done_for.load(std::memory_order_acquire);
  } while (seen != done);
  return true;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::detail

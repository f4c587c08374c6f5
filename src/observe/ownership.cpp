// SPDX-License-Identifier: Apache-2.0
#include "ownership.hpp"

#include <atomic>
#include <new>

#include <txsync/machine/thread.hpp>

namespace txsync::inline TXSYNC_BACKEND::observe {

namespace {

using owned_flag = std::atomic<bool>;
static_assert(sizeof(owned_flag) <= sizeof(ownership::room));

owned_flag& flag_of(ownership& block) noexcept { return *std::launder(reinterpret_cast<owned_flag*>(block.room)); }

[[gnu::tls_model("initial-exec")]] constinit thread_local bool ended = false;

void give_back(void* raw) {
  auto& block = *static_cast<ownership*>(raw);
  if (!stop_counting(block)) return;
  ended = true;                                            // locks taken by later exit handlers are not counted
  flag_of(block).store(false, std::memory_order_release);  // pairs with the acquire in own()
}

}  // namespace

void make_unowned(ownership& block) noexcept { new (block.room) owned_flag(false); }

bool own(ownership& block) noexcept {
  owned_flag& owned = flag_of(block);
  bool free = false;
  // relaxed: a look only. acquire pairs with the releases below and in give_back()
  if (owned.load(std::memory_order_relaxed) ||
      !owned.compare_exchange_strong(free, true, std::memory_order_acquire, std::memory_order_relaxed))
    return false;
  if (machine::at_thread_exit(give_back, &block)) return true;
  ended = true;
  owned.store(false, std::memory_order_release);  // pairs with the acquire above
  return false;
}

bool may_own() noexcept { return !ended; }

}  // namespace txsync::inline TXSYNC_BACKEND::observe

// SPDX-License-Identifier: Apache-2.0
#include "ownership.hpp"

#include <atomic>
#include <new>

#include <txsync/machine/thread.hpp>

namespace txsync::inline TXSYNC_BACKEND::observe {

namespace {

struct owner_state {
  explicit owner_state(ownerships& among) noexcept : all(among) {}

  ownerships& all;
  std::atomic<bool> owned{false};

  void leave() noexcept {
    all.unowned.fetch_add(1, std::memory_order_relaxed);  // relaxed: says whether to look at the flags
    owned.store(false, std::memory_order_release);        // pairs with the acquire in own()
  }
};
static_assert(sizeof(owner_state) <= sizeof(ownership::room));

owner_state& state_of(ownership& block) noexcept { return *std::launder(reinterpret_cast<owner_state*>(block.room)); }

[[gnu::tls_model("initial-exec")]] constinit thread_local bool ended = false;

void give_back(void* raw) {
  auto& block = *static_cast<ownership*>(raw);
  if (!stop_counting(block)) return;
  ended = true;  // locks taken by later exit handlers are not counted
  state_of(block).leave();
}

}  // namespace

bool may_be_unowned(const ownerships& blocks) noexcept {
  // relaxed: a block that is given up meanwhile is found by the next thread
  return blocks.unowned.load(std::memory_order_relaxed) != 0;
}

void make_unowned(ownership& block, ownerships& among) noexcept {
  new (block.room) owner_state(among);
  among.unowned.fetch_add(1, std::memory_order_relaxed);  // relaxed: as in leave()
}

bool own(ownership& block) noexcept {
  owner_state& state = state_of(block);
  bool free = false;
  // relaxed: a look only. acquire pairs with the release in leave()
  if (state.owned.load(std::memory_order_relaxed) ||
      !state.owned.compare_exchange_strong(free, true, std::memory_order_acquire, std::memory_order_relaxed))
    return false;
  state.all.unowned.fetch_sub(1, std::memory_order_relaxed);  // relaxed: as in leave()
  if (machine::at_thread_exit(give_back, &block)) return true;
  ended = true;
  state.leave();
  return false;
}

bool may_own() noexcept { return !ended; }

}  // namespace txsync::inline TXSYNC_BACKEND::observe

// SPDX-License-Identifier: Apache-2.0
#include "ownership.hpp"

#include <atomic>
#include <new>

#include <txsync/machine/thread.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

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

/// The first of the blocks that the calling thread gives back at its end, and the process in which it is the thread's.
[[gnu::tls_model("initial-exec")]] constinit thread_local ownership* first_block = nullptr;
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint32_t first_forks = 0;

void give_back_first(void*) { give_back(first_block); }

/// In the child of a fork, the parent's block is not the thread's to give back. machine::at_thread_exit() has room for
/// few calls, so the child uses the call that it inherits. A chain of forks thus takes only one.
bool give_back_at_exit(ownership& block) noexcept {
  const bool is_parents = first_block != nullptr && first_forks != machine::fork_count();
  if (first_block != nullptr && !is_parents) return machine::at_thread_exit(give_back, &block);
  if (!is_parents && !machine::at_thread_exit(give_back_first, nullptr)) return false;
  first_block = &block;
  first_forks = machine::fork_count();
  return true;
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
  // relaxed: only a check. acquire pairs with the release in leave()
  if (state.owned.load(std::memory_order_relaxed) ||
      !state.owned.compare_exchange_strong(free, true, std::memory_order_acquire, std::memory_order_relaxed))
    return false;
  state.all.unowned.fetch_sub(1, std::memory_order_relaxed);  // relaxed: as in leave()
  if (give_back_at_exit(block)) return true;
  ended = true;
  state.leave();
  return false;
}

bool may_own() noexcept { return !ended; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe

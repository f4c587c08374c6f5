// SPDX-License-Identifier: Apache-2.0
#include <txsync/machine/asymmetric.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/restartable.hpp>

#include "state.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

using script::the_state;

namespace detail {

bool scripted_interruption() noexcept {
  scripted_step();
  std::atomic<unsigned>& left = the_state().releases_to_interrupt;
  unsigned seen = left.load(std::memory_order_relaxed);
  while (seen != 0 && !left.compare_exchange_weak(seen, seen - 1, std::memory_order_relaxed)) {
  }
  return seen != 0;
}

}  // namespace detail

void membarrier_releases() noexcept {
  detail::scripted_system_call();
  script::count(the_state().tally.settles);
  fence();
}

void heavy_fence() noexcept {
  detail::scripted_system_call();
  fence();
}

bool releases_are_restartable() noexcept {
  script::state& all = the_state();
  const std::lock_guard hold(all.guard);
  return all.system.restartable;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

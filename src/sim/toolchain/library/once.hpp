// SPDX-License-Identifier: Apache-2.0
// Once-only execution, with a 32-bit word that is zero at first. pthread_once uses it, and so do the guards of static
// locals. The compiler reads the first byte of a guard itself: 1 means done.
#pragma once

#include <txsync_backend/runtime.h>

#include <atomic>
#include <cstdint>

namespace txsync::sim::library {

inline constexpr std::uint32_t once_done = 1, once_busy = 0x100, once_awaited = 0x10000;

// True: the caller does it, and then calls once_finish. False: it is done.
inline bool once_begin(std::uint32_t& word) {
  std::atomic_ref<std::uint32_t> state(word);
  for (;;) {
    std::uint32_t seen = state.load();
    if (seen == once_done) return false;
    if (seen == 0 && state.compare_exchange_strong(seen, once_busy)) return true;
    if (seen == once_done || seen == 0) continue;
    if (seen == once_busy && !state.compare_exchange_strong(seen, once_busy | once_awaited)) continue;
    txsync_sim_park(&word, once_busy | once_awaited, ~std::uint64_t{0});
  }
}

// `done` is false if an exception was thrown; then another thread tries.
inline void once_finish(std::uint32_t& word, bool done) {
  const std::uint32_t before = std::atomic_ref<std::uint32_t>(word).exchange(done ? once_done : 0);
  if (before & once_awaited) txsync_sim_unpark(&word, ~0u);
}

template <typename Function>
void call_once(std::uint32_t& word, Function function) {
  if (!once_begin(word)) return;
  struct finisher {
    std::uint32_t& word;
    bool done = false;
    ~finisher() { once_finish(word, done); }
  } at_end{word};
  function();
  at_end.done = true;
}

}  // namespace txsync::sim::library

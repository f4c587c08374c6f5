// SPDX-License-Identifier: Apache-2.0
// What elision keeps for each thread, outside of thread-local storage: libraries that are loaded late share 1.6 KB of
// that, and small stacks pay for it. Pages of the system, not of malloc(), whose locks may be ours.
#pragma once

#include <txsync/speculate/elision.hpp>

#include "speculate/experience.hpp"

namespace txsync::inline TXSYNC_BACKEND::detail {

struct thread_memory {
  static constexpr unsigned max_actions = 16;
  static constexpr unsigned table_bits = 5;

  deferred_action actions[max_actions];
  experience table[1u << table_bits];
};

/// The calling thread's, taken at its first call, outside attempts; it is given back as the thread ends. Null where the
/// system has no memory, and from then on; and as the thread ends.
thread_memory* my_memory() noexcept;
/// Null where there is none yet. May be called in attempts.
thread_memory* my_memory_if_any() noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::detail

// SPDX-License-Identifier: Apache-2.0
// A thread that waits for a notification watches for a while before it sleeps. A notification in that time needs no
// system call. The time depends on whether its last watches succeeded.
#pragma once

#include <cstdint>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/thread.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::detail {

/// The calling thread's history: each failed watch halves the time of the next one. Now and then a trial watches
/// longer.
struct watch_history {
  std::uint8_t failed_watches;
  std::uint8_t failed_trials;
  std::uint16_t until_trial;
};
[[gnu::tls_model("initial-exec")]] extern constinit thread_local watch_history my_watches;

/// With one CPU, the notifying thread cannot run while another thread watches.
inline bool may_watch() noexcept { return machine::cpu_count() > 1; }

/// Watches until is_over(), or returns false after a limited time. It does not yield: the kernel may not run a yielded
/// thread again for some milliseconds. A sleeping thread runs as soon as it is woken.
template <class Over>
bool watch(Over is_over) noexcept {
  // Found with ./dev bench leveldb and bench locks. A failed watch costs no more than a sleep and a wake-up.
  constexpr std::uint64_t max_cycles = 20'000;
  constexpr std::uint64_t trial_cycles = 60'000;  // long enough for the notifying thread to wake up, too
  constexpr unsigned max_failed_watches = 8;
  constexpr unsigned min_watches_a_trial = 16;
  constexpr unsigned max_failed_trials = 5;
  watch_history& mine = my_watches;
  const bool is_trial = mine.until_trial == 0;
  const std::uint64_t budget = is_trial ? trial_cycles : max_cycles >> mine.failed_watches;
  if (!is_trial) --mine.until_trial;
  const std::uint64_t start = machine::cycles();
  do {
    if (is_over()) {
      mine = {};
      return true;
    }
    machine::relax();
  } while (machine::cycles() - start < budget);
  if (mine.failed_watches < max_failed_watches) ++mine.failed_watches;
  if (is_trial) {
    mine.until_trial = static_cast<std::uint16_t>(min_watches_a_trial << mine.failed_trials);
    if (mine.failed_trials < max_failed_trials) ++mine.failed_trials;
  }
  return false;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::detail

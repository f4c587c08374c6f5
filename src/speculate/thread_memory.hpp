// SPDX-License-Identifier: Apache-2.0
// What elision keeps for each thread, outside of thread-local storage. Libraries that are loaded late share 1.6 KB of
// that, and small stacks pay for it. It uses pages of the system, not malloc(), whose locks may be ours.
#pragma once

#include <cstdint>

#include <txsync/machine/cpu.hpp>
#include <txsync/speculate/elision.hpp>

#include "speculate/elision_history.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::detail {

/// Which of the thread's critical sections are timed, to estimate the time that aborted attempts lose: one in
/// observe::timing_period. The end of the previous section decides, where its attempts are counted
/// (attempt_frame::times_losses).
class timed_sections {
 public:
  /// The next critical section is timed: its begin() starts the timing.
  void time_next() noexcept { is_next_ = true; }
  /// Outside attempts, before the first attempt of a section.
  void begin() noexcept {
    if (is_next_) [[unlikely]]
      begin_timing();
  }
  void begin_timing() noexcept;
  /// The attempt has aborted. again(): another one begins.
  void aborted() noexcept {
    if (began_ != 0) [[unlikely]]
      lost_ += machine::cycles() - began_;
  }
  void again() noexcept {
    if (began_ != 0) [[unlikely]]
      began_ = machine::cycles();
  }
  /// The critical section has ended, or takes the lock. Counts what it has lost.
  void end(site& the_site) noexcept {
    if (began_ != 0) [[unlikely]]
      end_timing(the_site);
  }
  void end(const site_state& state) noexcept {
    if (began_ != 0) [[unlikely]]
      end_timing(*state.get_site());
  }

 private:
  void end_timing(site& the_site) noexcept;

  bool is_next_ = false;
  std::uint64_t began_ = 0;  ///< machine::cycles(); 0: the section is not timed
  std::uint64_t lost_ = 0;   ///< cycles, of the critical section that is timed
};

struct thread_memory {
  static constexpr unsigned max_actions = 16;
  static constexpr unsigned table_bits = 5;

  deferred_action actions[max_actions];
  elision_history table[1u << table_bits];
  timed_sections timed;
};

/// The calling thread's memory. The first call, outside attempts, takes it, and the thread's end gives it back. Null if
/// the system has no memory, and from then on; and as the thread ends.
thread_memory* my_memory() noexcept;
/// Null if the thread has none yet. May be called in attempts.
thread_memory* my_memory_if_any() noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::detail

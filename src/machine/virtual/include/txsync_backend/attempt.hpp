// SPDX-License-Identifier: Apache-2.0
// Attempts of the simulated machine. The runtime restores the thread's registers and stack itself.
#pragma once

#include <txsync_backend/runtime.h>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace detail {
/// How many levels a warm_begin() opens beyond the first, if the machine has no always-abort instructions.
inline constexpr unsigned warm_extra_depth = 3;
/// Whether an abort restores all memory to its state at begin().
inline constexpr bool aborts_undo_stores = true;
/// Set only inside such an attempt, whose abort resets it.
extern constinit thread_local bool in_warm_attempt;

/// As on real machines (native/txsync_backend/warm.hpp): a stray end only closes one of the levels.
inline attempt_status begin_nested_warm() noexcept {
  *const_cast<volatile bool*>(&in_warm_attempt) = false;  // a first access inside the attempt would be a page fault
  const attempt_status status{txsync_sim_begin()};
  if (status.started()) {
    for (unsigned level = 0; level < warm_extra_depth; ++level) static_cast<void>(txsync_sim_begin());
    in_warm_attempt = true;
  }
  return status;
}
}  // namespace detail

// An abort restores the thread's registers and stack to their state in begin(). So the compiler needs no hint about a
// second return, which would prevent inlining of begin().
inline attempt_status begin() noexcept { return attempt_status{txsync_sim_begin()}; }
inline void end() noexcept { txsync_sim_end(); }
template <std::uint8_t Code>
inline void abort() noexcept {
  txsync_sim_abort(Code);
}
inline void abort_busy(const void* lock) noexcept { txsync_sim_abort_busy(lock); }
inline void store_in_attempt(std::atomic<std::uint64_t>& place, std::uint64_t value) noexcept {
  place.store(value, std::memory_order_release);  // pairs with the acquire of concurrent readers
}
inline void await_attempts() noexcept {}
inline void annotate_acquire(const void*) noexcept {}
inline void annotate_release(const void*) noexcept {}
inline void annotate_unseen_acquire(const void*) noexcept {}
inline void annotate_unseen_release(const void*) noexcept {}
inline bool attempts_never_work() noexcept { return false; }  // costs nothing; before main() nothing is known
inline bool attempts_work() noexcept { return (txsync_sim_capability() & 1) != 0; }
inline bool active() noexcept { return txsync_sim_depth() != 0; }
inline unsigned depth() noexcept { return txsync_sim_depth(); }
template <hle_word Word>
inline Word hle_acquire(std::atomic<Word>& word, std::type_identity_t<Word> value) noexcept {
  return static_cast<Word>(txsync_sim_hle_acquire(&word, sizeof(Word), value));
}
template <hle_word Word>
inline void hle_release(std::atomic<Word>& word, std::type_identity_t<Word> value) noexcept {
  txsync_sim_hle_release(&word, sizeof(Word), value);
}
inline attempt_status warm_begin() noexcept {
  constexpr unsigned has_instructions = 16;
  if ((txsync_sim_capability() & has_instructions) == 0) return detail::begin_nested_warm();
  return attempt_status{txsync_sim_warm_begin()};
}
inline bool warm_active() noexcept { return detail::in_warm_attempt || txsync_sim_warm_active() != 0; }
inline void suspend() noexcept { txsync_sim_suspend(); }
inline void resume() noexcept { txsync_sim_resume(); }
inline attempt_status begin_rollback_only() noexcept { return attempt_status{txsync_sim_begin_rollback_only()}; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

// SPDX-License-Identifier: Apache-2.0
// Attempts of the scripted machine. The script (src/machine/scripted/script.hpp) says what each of them does.
//
// An abort really returns to begin(). It restores the registers that a function must preserve, and the thread's own
// stack from begin's caller upwards (at most script::snapshot_bytes of it). It also restores the words that
// store_in_attempt() has stored. Other stores to other memory are NOT undone. Other threads may see any store before
// the end, unless the script says that attempts exclude each other. To the compiler, begin() is an ordinary call that
// returns twice with the same registers and the same stack. It may assume that of any call. So begin() may be inlined,
// and the function around it may return before the abort.
#pragma once

#include <txsync/machine/race_detector.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace detail {

enum scripted_begin_kind : std::uint32_t { plain_attempt, rollback_only_attempt, warm_attempt, hle_attempt };

/// In assembly (scripted/restore.cpp). Returns a raw attempt_status, once or twice. `caller`: the frame address of the
/// function that begins the attempt.
extern "C" std::uint32_t txsync_scripted_begin(std::uint32_t kind, void* caller) noexcept;

void scripted_end() noexcept;
void scripted_abort(std::uint8_t code) noexcept;
void scripted_store(std::atomic<std::uint64_t>& place, std::uint64_t value) noexcept;
void scripted_await() noexcept;
unsigned scripted_depth() noexcept;
bool scripted_warm() noexcept;
void scripted_suspend() noexcept;
void scripted_resume() noexcept;
void scripted_hle_elide(const void* word) noexcept;
/// Whether `word` is the elided one.
bool scripted_hle_ends(const void* word) noexcept;
/// Commits if the word has its former value again.
void scripted_hle_end(bool restored) noexcept;

/// How many levels a warm_begin() opens beyond the first.
inline constexpr unsigned warm_extra_depth = 3;
/// Whether an abort restores all memory to its state at begin().
inline constexpr bool aborts_undo_stores = false;

}  // namespace detail

inline attempt_status begin() noexcept {
  return attempt_status{detail::txsync_scripted_begin(detail::plain_attempt, __builtin_frame_address(0))};
}
inline void end() noexcept { detail::scripted_end(); }
template <std::uint8_t Code>
inline void abort() noexcept {
  detail::scripted_abort(Code);
}
inline void abort_busy(const void*) noexcept { abort<attempt_status::code_lock_busy>(); }
inline void store_in_attempt(std::atomic<std::uint64_t>& place, std::uint64_t value) noexcept {
  detail::scripted_store(place, value);
}
inline void await_attempts() noexcept { detail::scripted_await(); }
inline bool attempts_work() noexcept { return htm().attempts; }
inline bool attempts_never_work() noexcept { return !attempts_work(); }
inline bool active() noexcept { return detail::scripted_depth() != 0; }
inline unsigned depth() noexcept { return detail::scripted_depth(); }

template <hle_word Word>
inline Word hle_acquire(std::atomic<Word>& word, std::type_identity_t<Word> value) noexcept {
  if (detail::txsync_scripted_begin(detail::hle_attempt, __builtin_frame_address(0)) == attempt_status::started_value) {
    detail::scripted_hle_elide(&word);
    return word.load(std::memory_order_acquire);  // pairs with hle_release, like the exchange below
  }
  return word.exchange(value, std::memory_order_acquire);  // pairs with hle_release
}

template <hle_word Word>
inline void hle_release(std::atomic<Word>& word, std::type_identity_t<Word> value) noexcept {
  if (!detail::scripted_hle_ends(&word)) return word.store(value, std::memory_order_release);  // pairs with hle_acquire
  detail::scripted_hle_end(word.load(std::memory_order_relaxed) == value);  // relaxed: the attempt's own view
}

inline attempt_status warm_begin() noexcept {
  return attempt_status{detail::txsync_scripted_begin(detail::warm_attempt, __builtin_frame_address(0))};
}
inline bool warm_active() noexcept { return detail::scripted_warm(); }
inline void suspend() noexcept { detail::scripted_suspend(); }
inline void resume() noexcept { detail::scripted_resume(); }
inline attempt_status begin_rollback_only() noexcept {
  return attempt_status{detail::txsync_scripted_begin(detail::rollback_only_attempt, __builtin_frame_address(0))};
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

// SPDX-License-Identifier: Apache-2.0
// What a pthread_mutex_t holds under the preloaded library. Everything is within its own bytes. So copies of static
// initialisers, reused memory and mutexes that are never destroyed are no special cases. The always-abort paper's
// library had the idea to keep the lock in place. The layout is ours.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include <txsync/locks/concurrency_limiter.hpp>
#include <txsync/locks/lock_words.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

using detail::algorithm;

/// The algorithm in the high 4 bits, the site in the low 12. 0 is a lock that no thread has taken yet.
class lock_tag {
 public:
  constexpr lock_tag() noexcept = default;
  constexpr explicit lock_tag(std::uint16_t bits) noexcept : bits_(bits) {}
  constexpr lock_tag(algorithm lock_algorithm, std::uint32_t site) noexcept
      : bits_(static_cast<std::uint16_t>(static_cast<unsigned>(lock_algorithm) << 12 | site)) {}
  constexpr algorithm lock_algorithm() const noexcept { return static_cast<algorithm>(bits_ >> 12); }
  /// Whether a free lock is just taken, and a held one just given up, without further questions. Any other thread that
  /// comes to a recursive or error-checking mutex finds it held. One comparison.
  constexpr bool is_fast() const noexcept {
    static_assert(static_cast<unsigned>(algorithm::futex) >> 1 == static_cast<unsigned>(algorithm::checked_futex) >> 1);
    return bits_ >> 13 == static_cast<unsigned>(algorithm::futex) >> 1;
  }
  /// The site that counts it; 0: none does.
  constexpr std::uint32_t site() const noexcept {
    return lock_algorithm() == algorithm::by_role_uncounted ? 0 : bits_ & 0xFFF;
  }
  constexpr bool has_role() const noexcept { return lock_algorithm() >= algorithm::by_role; }
  /// The site's number, if it has a role (speculating_sites.hpp).
  constexpr std::uint32_t role() const noexcept { return bits_ & 0xFFF; }
  constexpr std::uint16_t bits() const noexcept { return bits_; }

 private:
  std::uint16_t bits_ = 0;
};

/// Laid over a pthread_mutex_t. All zero, and what the static initialisers write, is a valid unlocked mutex. `kind` is
/// the C library's field, at its place. In a mutex that is left to the C library only `tag` is ours.
struct mutex_state {
  detail::lock_words word;
  /// The owner's word. The low half, which is the C library's place for it, holds the owner's thread_number(); 0: none.
  /// The high half holds two flags, and how often a recursive mutex is locked, minus one. It is one word, so that the
  /// fast unlock checks all of it. Programs read the low half (assertions that a mutex is held).
  std::atomic<std::uint64_t> hold;
  std::atomic<std::int32_t> kind;   // PTHREAD_MUTEX_NORMAL.., with the C library's flags; -1: destroyed
  std::atomic<std::uint16_t> mark;  // for a ticket lock and priority_tatas: process_mark() of the last owner
                                    // (locks/tagged_lock.hpp). In the C library: its spin count
  std::atomic<std::uint16_t> tag;   // lock_tag; in the C library the field of its former elision
  concurrency_limiter limiter;      // for a ticket lock

  static constexpr std::uint64_t sampled = std::uint64_t{1} << 63;
  /// The unlock wakes threads that the owner has signalled (condition.cpp).
  static constexpr std::uint64_t wakes = std::uint64_t{1} << 62;
  static constexpr std::uint64_t once_more = std::uint64_t{1} << 32;
  static constexpr std::uint64_t depth_bits = wakes - once_more;

  // relaxed, all three: the answer has to be exact only for the owner itself
  std::uint32_t owner() const noexcept { return static_cast<std::uint32_t>(hold.load(std::memory_order_relaxed)); }
  /// By the owner of a recursive mutex. False: it is locked as often as can be counted.
  bool lock_once_more() noexcept {
    const std::uint64_t held = hold.load(std::memory_order_relaxed);
    if ((held & depth_bits) == depth_bits) return false;
    hold.store(held + once_more, std::memory_order_relaxed);
    return true;
  }
  /// By the owner. False, and nothing done: it is locked once.
  bool unlock_once_of_several() noexcept {
    const std::uint64_t held = hold.load(std::memory_order_relaxed);
    if ((held & depth_bits) == 0) return false;
    hold.store(held - once_more, std::memory_order_relaxed);
    return true;
  }

  static constexpr std::int32_t kind_bits = 3;
  /// Robust, priority-inheriting, priority-protected, process-shared: left to the C library.
  static constexpr std::int32_t robust_bit = 16;
  static constexpr std::int32_t foreign_bits = robust_bit | 32 | 64 | 128;
};

static_assert(sizeof(mutex_state) <= sizeof(pthread_mutex_t));
static_assert(offsetof(mutex_state, hold) == offsetof(pthread_mutex_t, __data.__owner));
static_assert(offsetof(mutex_state, kind) == offsetof(pthread_mutex_t, __data.__kind));
#ifdef __x86_64__
static_assert(offsetof(mutex_state, tag) == offsetof(pthread_mutex_t, __data.__elision));
#endif

inline mutex_state& state_of(pthread_mutex_t* mutex) noexcept {
  return *std::launder(reinterpret_cast<mutex_state*>(mutex));
}

/// What the other parts of the library need of mutexes. The calling thread gives the mutex up in order to wait on a
/// condition. Returns 0, or an errno after which it still holds what it held.
int release_for_wait(pthread_mutex_t* mutex) noexcept;
void take_after_wait(pthread_mutex_t* mutex, int& status) noexcept;
/// Whether the calling thread holds it, outside attempts, and it is not the C library's.
bool is_held_by_caller(pthread_mutex_t* mutex) noexcept;
/// The next unlock of the mutex calls wake_signalled(). False, with no effect, if the calling thread does not hold it,
/// or holds it in an attempt.
bool ask_for_wakes(pthread_mutex_t* mutex) noexcept;
/// Wakes the threads that a holder of the mutex has signalled. The mutex has been given up.
void wake_signalled(const pthread_mutex_t* mutex) noexcept;
/// The site that counts waits of the mutex's holders, as for a condition.
std::uint32_t site_of(pthread_mutex_t* mutex) noexcept;
/// The mutex's tag. Decides it if it is not decided yet, as is_foreign() does.
lock_tag decided_tag(pthread_mutex_t* mutex) noexcept;
/// Whether it is left to the C library.
bool is_foreign(pthread_mutex_t* mutex) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

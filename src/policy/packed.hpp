// SPDX-License-Identifier: Apache-2.0
// A policy in the form of a site's word (site::policy()), in which it also crosses from `txsync run` to the program.
// Needs no library, because the preloaded library reads it.
#pragma once

#include <cstddef>
#include <cstdint>

#include <txsync/observe/site_policy.hpp>
#include <txsync/site.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::policy {

/// What a pthread_mutex_t of a site is. `unset` stands for the default of whoever asks.
enum class lock_kind : std::uint8_t { unset, libc, mutex, tatas, ticket, fifo_ticket, spin, priority_tatas };
/// What a pthread_rwlock_t of a site is. as_mutex: readers exclude each other, too; the site's lock_kind decides how.
enum class rwlock_kind : std::uint8_t { unset, libc, rwlock, as_mutex };
/// What a pthread_spinlock_t of a site is.
enum class spinlock_kind : std::uint8_t { unset, libc, tatas };
/// How critical sections of a pthread_mutex_t or pthread_rwlock_t are tried as hardware attempts. It applies where the
/// machine has hardware attempts and the lock's kind is not `libc`. From `standard` on, the values are the rows of
/// elision_table (policy/presets.hpp), in its order.
enum class elision_kind : std::uint8_t { unset, off, standard, eager };

/// What waiters for a pthread_mutex_t do while they wait, where the machine has always-abort attempts. From `standard`
/// on, the values are the rows of warm_up_table.
enum class warm_up_kind : std::uint8_t { unset, off, standard, eager };

/// What the barrier is in OpenMP programs that GCC compiled, for a whole program.
enum class openmp_kind : std::uint8_t { library, warm };

/// The choices for one site. Bit 0 of the word is policy_word::counting_off.
struct packed {
  lock_kind lock = lock_kind::unset;
  rwlock_kind rwlock = rwlock_kind::unset;
  spinlock_kind spinlock = spinlock_kind::unset;
  bool counting = true;
  elision_kind elision = elision_kind::unset;
  warm_up_kind warm_up = warm_up_kind::unset;

  using parts = observe::detail::policy_parts;     ///< masks of word(), except for counting
  static constexpr std::size_t max_presets = 256;  ///< the largest number of values of elision_kind, and of
                                                   ///< warm_up_kind

  constexpr std::uint32_t word() const noexcept {
    return (counting ? 0 : policy_word::counting_off) | static_cast<std::uint32_t>(lock) << 4 |
           static_cast<std::uint32_t>(rwlock) << 8 | static_cast<std::uint32_t>(spinlock) << 12 |
           static_cast<std::uint32_t>(elision) << 16 | static_cast<std::uint32_t>(warm_up) << 24;
  }
  /// The bits of word() whose field is not `unset`. Counting is not among them, because its bit always has a meaning.
  constexpr std::uint32_t set_bits() const noexcept {
    return (lock != lock_kind::unset ? parts::lock : 0) | (rwlock != rwlock_kind::unset ? parts::rwlock : 0) |
           (spinlock != spinlock_kind::unset ? parts::spinlock : 0) |
           (elision != elision_kind::unset ? parts::elision : 0) |
           (warm_up != warm_up_kind::unset ? parts::warm_up : 0);
  }
  constexpr bool wants_elision() const noexcept {
    return elision != elision_kind::unset && elision != elision_kind::off;
  }
  constexpr bool wants_warm_up() const noexcept {
    return warm_up != warm_up_kind::unset && warm_up != warm_up_kind::off;
  }
  static constexpr packed of(std::uint32_t word) noexcept {
    return {static_cast<lock_kind>(word >> 4 & 15),      static_cast<rwlock_kind>(word >> 8 & 15),
            static_cast<spinlock_kind>(word >> 12 & 15), (word & policy_word::counting_off) == 0,
            static_cast<elision_kind>(word >> 16 & 255), static_cast<warm_up_kind>(word >> 24)};
  }
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::policy

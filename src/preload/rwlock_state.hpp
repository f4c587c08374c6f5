// SPDX-License-Identifier: Apache-2.0
// What a pthread_rwlock_t holds under the preloaded library: everything within its own bytes, as in mutexes.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include <txsync/locks/futex_rwlock.hpp>

#include "mutex_state.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

/// In the high 4 bits of a lock's tag; the site is in the low 12. A tag of 0 is a lock that no thread has taken yet.
enum class rw_algorithm : std::uint8_t {
  unknown,
  libc,
  rwlock,
  as_mutex,
  /// As `rwlock`, and the site decides how critical sections run as attempts.
  elided,
  elided_uncounted,
};

class rw_tag {
 public:
  constexpr explicit rw_tag(std::uint16_t bits) noexcept : bits_(bits) {}
  constexpr rw_tag(rw_algorithm lock_algorithm, std::uint32_t site) noexcept
      : bits_(static_cast<std::uint16_t>(static_cast<unsigned>(lock_algorithm) << 12 | site)) {}
  constexpr rw_algorithm lock_algorithm() const noexcept { return static_cast<rw_algorithm>(bits_ >> 12); }
  /// The site that counts it; 0: none does.
  constexpr std::uint32_t site() const noexcept {
    return lock_algorithm() == rw_algorithm::elided_uncounted ? 0 : bits_ & 0xFFF;
  }
  constexpr bool is_elided() const noexcept { return lock_algorithm() >= rw_algorithm::elided; }
  /// The site's number, if it is elided (speculating_sites.hpp).
  constexpr std::uint32_t role() const noexcept { return bits_ & 0xFFF; }
  constexpr std::uint16_t bits() const noexcept { return bits_; }

 private:
  std::uint16_t bits_;
};

/// The state of a lock that readers share.
struct shared_state {
  futex_rwlock rwlock;
  std::uint32_t unused;
  std::atomic<std::uint32_t> forks;  // 2 * fork_count() once the parent's sleepers are forgotten
  std::uint32_t more_unused[2];
  std::atomic<std::uint32_t> writer;  // number of the thread inside as a writer; 0: none
  std::uint32_t process_shared;       // the C library's field, at its place
};

/// Laid over a pthread_rwlock_t; all zero, and what the static initialisers write, is a valid unlocked one.
struct rwlock_state {
  union {
    shared_state shared;
    mutex_state mutex;  // as_mutex; its depth counts readers of one thread
  };
  std::atomic<std::uint16_t> tag;  // rw_tag
  std::uint16_t written;           // as_mutex: the owner came as a writer; accessed by the owner
  std::uint32_t unused;
  std::uint32_t preference;  // the C library's field: PTHREAD_RWLOCK_PREFER_..., at its place
};
static_assert(sizeof(rwlock_state) <= sizeof(pthread_rwlock_t));
static_assert(offsetof(mutex_state, tag) >= offsetof(shared_state, more_unused) &&
              offsetof(mutex_state, tag) < offsetof(shared_state, writer));
// The critical sections of both are known by the address of the lock.
static_assert(offsetof(shared_state, rwlock) == 0 && offsetof(mutex_state, word) == 0);
#ifdef __x86_64__
static_assert(offsetof(shared_state, writer) == offsetof(pthread_rwlock_t, __data.__cur_writer));
static_assert(offsetof(shared_state, process_shared) == offsetof(pthread_rwlock_t, __data.__shared));
static_assert(offsetof(rwlock_state, preference) == offsetof(pthread_rwlock_t, __data.__flags));
#endif

inline rwlock_state& state_of(pthread_rwlock_t* lock) noexcept {
  return *std::launder(reinterpret_cast<rwlock_state*>(lock));
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

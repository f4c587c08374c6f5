// SPDX-License-Identifier: Apache-2.0
// pthread_spin_*. Four bytes: a mark of ours, the site, and whether it is held. Without the mark the lock is the C
// library's (process-shared, or by policy), whose words are 0 and 1. The sites of those are kept elsewhere.
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <new>

#include <txsync/observe/counters.hpp>

#include "contention.hpp"
#include "interpose.hpp"
#include "locks/backoff.hpp"
#include "next.hpp"
#include "sites.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

using spin_word = std::atomic<std::uint32_t>;
static_assert(sizeof(spin_word) == sizeof(pthread_spinlock_t));

constexpr std::uint32_t held = 1;
constexpr std::uint32_t mark = 0x7C00'0000;
constexpr std::uint32_t mark_bits = 0xFF00'0000;
constexpr unsigned site_shift = 8;

spin_word& word_of(pthread_spinlock_t* lock) noexcept {
  return *std::launder(reinterpret_cast<spin_word*>(const_cast<int*>(lock)));
}

bool is_ours(std::uint32_t word) noexcept { return (word & mark_bits) == mark; }
std::uint32_t site_in(std::uint32_t word) noexcept { return word >> site_shift & 0xFFF; }

bool try_take(spin_word& word) noexcept {
  // relaxed: only a look. acquire pairs with the release in pthread_spin_unlock()
  return (word.load(std::memory_order_relaxed) & held) == 0 &&
         (word.fetch_or(held, std::memory_order_acquire) & held) == 0;
}

void count(const volatile void* lock, std::uint32_t site) noexcept {
  observe::detail::acquired(site, const_cast<const void*>(lock));
}
void ends(const volatile void* lock) noexcept { observe::detail::hold_ends_if_timed(const_cast<const void*>(lock)); }

[[gnu::noinline]] void wait_for(spin_word& word, std::uint32_t site) noexcept {
  const begun_wait wait = begin_wait(site, &word, lock_call::spin);
  detail::exponential_backoff backoff(detail::spin_lock_waiting);
  do backoff.wait();
  while (!try_take(word));
  end_wait(site, &word, lock_call::spin, wait);
}

// ---- left to the C library

/// Sites, by address, of locks that have no room for them. A lock without an entry is not counted.
class site_table {
 public:
  void put(const volatile void* lock, std::uint32_t site) noexcept {
    const std::uintptr_t key = key_of(lock);
    if (site == 0) return;
    for (unsigned i = 0; i < window; ++i) {
      entry& slot = at(key, i);
      std::uintptr_t expected = 0;
      // relaxed, all: an entry is made before the program passes its lock on, and only counts depend on it
      if (!slot.key.compare_exchange_strong(expected, key, std::memory_order_relaxed) && expected != key) continue;
      slot.site.store(site, std::memory_order_relaxed);
      return;
    }
  }
  std::uint32_t find(const volatile void* lock) noexcept {
    const std::uintptr_t key = key_of(lock);
    for (unsigned i = 0; i < window; ++i) {
      entry& slot = at(key, i);
      if (slot.key.load(std::memory_order_relaxed) == key) return slot.site.load(std::memory_order_relaxed);
    }
    return 0;
  }
  void forget(const volatile void* lock) noexcept {
    const std::uintptr_t key = key_of(lock);
    for (unsigned i = 0; i < window; ++i) {
      entry& slot = at(key, i);
      if (slot.key.load(std::memory_order_relaxed) == key) slot.key.store(0, std::memory_order_relaxed);
    }
  }

 private:
  struct entry {
    std::atomic<std::uintptr_t> key;
    std::atomic<std::uint32_t> site;
  };
  static constexpr unsigned size = 4096;
  static constexpr unsigned window = 8;

  static std::uintptr_t key_of(const volatile void* lock) noexcept { return reinterpret_cast<std::uintptr_t>(lock); }
  entry& at(std::uintptr_t key, unsigned offset) noexcept {
    // Locks of one array differ in a few low bits; a multiplication spreads them.
    return entries_[((key * 0x9E37'79B9'7F4A'7C15u >> 52) + offset) % size];
  }
  entry entries_[size];
};
constinit site_table sites_of_foreign = {};

[[gnu::noinline]] int lock_foreign(pthread_spinlock_t* lock) noexcept {
  const std::uint32_t site = sites_of_foreign.find(lock);
  if (site == 0) return next().spin_lock(lock);
  if (next().spin_trylock(lock) != 0) {
    const void* const object = const_cast<const int*>(lock);
    const begun_wait wait = begin_wait(site, object, lock_call::spin);
    next().spin_lock(lock);
    end_wait(site, object, lock_call::spin, wait);
  }
  count(lock, site);
  return 0;
}

[[gnu::noinline]] int try_lock_foreign(pthread_spinlock_t* lock) noexcept {
  const int status = next().spin_trylock(lock);
  if (status == 0) {
    if (const std::uint32_t site = sites_of_foreign.find(lock); site != 0) count(lock, site);
  }
  return status;
}

}  // namespace

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

using namespace txsync;
using namespace txsync::preload;

TXSYNC_INTERPOSE int pthread_spin_init(pthread_spinlock_t* lock, int shared) noexcept {
  if (shared == PTHREAD_PROCESS_PRIVATE) {
    const site_answer answer = find_site(object_kind::spinlock, const_cast<const int*>(lock));
    const std::uint32_t site = answer.policy.counting ? answer.site : 0;
    if (answer.policy.spinlock != policy::spinlock_kind::libc) {
      word_of(lock).store(mark | site << site_shift, std::memory_order_relaxed);  // relaxed: the program passes it on
      return 0;
    }
    sites_of_foreign.put(lock, site);
  }
  return next().spin_init(lock, shared);
}

TXSYNC_INTERPOSE int pthread_spin_destroy(pthread_spinlock_t* lock) noexcept {
  spin_word& word = word_of(lock);
  const std::uint32_t state = word.load(std::memory_order_relaxed);  // relaxed: the caller is the last user
  if (is_ours(state) && (state & held) != 0) {
    report(diagnostic_kind::destroyed_locked, site_in(state));
    return EBUSY;
  }
  if (!is_ours(state)) sites_of_foreign.forget(lock);
  return 0;
}

TXSYNC_INTERPOSE int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  spin_word& word = word_of(lock);
  const std::uint32_t state = word.load(std::memory_order_relaxed);  // relaxed: mark and site never change
  if (!is_ours(state)) return lock_foreign(lock);
  if (!try_take(word)) wait_for(word, site_in(state));
  count(lock, site_in(state));
  return 0;
}

TXSYNC_INTERPOSE int pthread_spin_trylock(pthread_spinlock_t* lock) noexcept {
  spin_word& word = word_of(lock);
  const std::uint32_t state = word.load(std::memory_order_relaxed);  // relaxed: as above
  if (!is_ours(state)) return try_lock_foreign(lock);
  if (!try_take(word)) return EBUSY;
  count(lock, site_in(state));
  return 0;
}

TXSYNC_INTERPOSE int pthread_spin_unlock(pthread_spinlock_t* lock) noexcept {
  spin_word& word = word_of(lock);
  const std::uint32_t state = word.load(std::memory_order_relaxed);  // relaxed: it is the holder's
  ends(lock);
  const void* const object = const_cast<const int*>(lock);
  if (!is_ours(state)) {
    const int status = next().spin_unlock(lock);
    released(object);
    return status;
  }
  if ((state & held) == 0) {
    report(diagnostic_kind::double_unlock, site_in(state));
    return 0;  // as in the C library
  }
  word.store(state & ~held, std::memory_order_release);  // pairs with the acquire in try_take()
  if (site_in(state) != 0) released(object);
  return 0;
}

TXSYNC_MOVED_IN_2_34(pthread_spin_init, TXSYNC_GLIBC_FIRST);
TXSYNC_MOVED_IN_2_34(pthread_spin_destroy, TXSYNC_GLIBC_FIRST);
TXSYNC_MOVED_IN_2_34(pthread_spin_lock, TXSYNC_GLIBC_FIRST);
TXSYNC_MOVED_IN_2_34(pthread_spin_trylock, TXSYNC_GLIBC_FIRST);
TXSYNC_MOVED_IN_2_34(pthread_spin_unlock, TXSYNC_GLIBC_FIRST);

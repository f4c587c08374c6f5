// SPDX-License-Identifier: Apache-2.0
// pthread_spin_*. Four bytes: a mark of ours, the site, and whether it is held. Without the mark it is the C library's
// (process-shared, or by policy), whose words are 0 and 1.
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <new>

#include <txsync/machine/cpu.hpp>
#include <txsync/observe/counters.hpp>

#include "interpose.hpp"
#include "locks/backoff.hpp"
#include "next.hpp"
#include "sites.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

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
  // relaxed: a look only. acquire pairs with the release in pthread_spin_unlock()
  return (word.load(std::memory_order_relaxed) & held) == 0 &&
         (word.fetch_or(held, std::memory_order_acquire) & held) == 0;
}

void count(std::uint32_t site) noexcept {
  if (--observe::detail::until_sample <= 0) [[unlikely]]
    observe::detail::sample(site, nullptr);
}

[[gnu::noinline]] void wait_for(spin_word& word, std::uint32_t site) noexcept {
  const std::uint64_t start = observe::detail::wait_begins(site);
  detail::exponential_backoff backoff(detail::spin_lock_waiting);
  do backoff.wait();
  while (!try_take(word));
  observe::detail::waited(site, machine::cycles() - start);
}

}  // namespace

}  // namespace txsync::inline TXSYNC_BACKEND::preload

using namespace txsync;
using namespace txsync::preload;

TXSYNC_INTERPOSE int pthread_spin_init(pthread_spinlock_t* lock, int shared) noexcept {
  if (shared == PTHREAD_PROCESS_PRIVATE) {
    const site_answer answer = find_site(object_kind::spinlock, const_cast<const int*>(lock));
    if (answer.policy.spinlock != policy::spinlock_kind::libc) {
      const std::uint32_t site = answer.policy.counting ? answer.site : 0;
      word_of(lock).store(mark | site << site_shift, std::memory_order_relaxed);  // relaxed: the program hands it over
      return 0;
    }
  }
  return next().spin_init(lock, shared);
}

TXSYNC_INTERPOSE int pthread_spin_destroy(pthread_spinlock_t* lock) noexcept {
  spin_word& word = word_of(lock);
  const std::uint32_t seen = word.load(std::memory_order_relaxed);  // relaxed: the caller is the last
  if (is_ours(seen) && (seen & held) != 0) {
    tell(notice_kind::destroyed_locked, site_in(seen));
    return EBUSY;
  }
  return 0;
}

TXSYNC_INTERPOSE int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  spin_word& word = word_of(lock);
  const std::uint32_t seen = word.load(std::memory_order_relaxed);  // relaxed: mark and site never change
  if (!is_ours(seen)) return next().spin_lock(lock);
  if (!try_take(word)) wait_for(word, site_in(seen));
  count(site_in(seen));
  return 0;
}

TXSYNC_INTERPOSE int pthread_spin_trylock(pthread_spinlock_t* lock) noexcept {
  spin_word& word = word_of(lock);
  const std::uint32_t seen = word.load(std::memory_order_relaxed);  // relaxed: as above
  if (!is_ours(seen)) return next().spin_trylock(lock);
  if (!try_take(word)) return EBUSY;
  count(site_in(seen));
  return 0;
}

TXSYNC_INTERPOSE int pthread_spin_unlock(pthread_spinlock_t* lock) noexcept {
  spin_word& word = word_of(lock);
  const std::uint32_t seen = word.load(std::memory_order_relaxed);  // relaxed: the holder's own
  if (!is_ours(seen)) return next().spin_unlock(lock);
  if ((seen & held) == 0) {
    tell(notice_kind::double_unlock, site_in(seen));
    return EPERM;
  }
  word.store(seen & ~held, std::memory_order_release);  // pairs with the acquire in try_take()
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// A program's pthread reader-writer locks under the preloaded library if their critical sections are elided.
#include <pthread.h>

#include "explorations/exploration.hpp"
#include "explorations/program_locks.hpp"
#include "explorations/reading_and_writing.hpp"
#include "preload/rwlock_state.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {

/// A lock according to the site's policy.
template <int preference>
class pthread_rwlock {
 public:
  pthread_rwlock() noexcept {
    make_program_site({.under = preload::algorithm::futex, .elides = true, .warms = false});
    state().preference = preference;
    state().tag.store(preload::rw_tag(preload::rw_algorithm::elided, program_site).bits());
  }
  void lock() noexcept { pthread_rwlock_wrlock(&lock_); }
  bool try_lock() noexcept { return pthread_rwlock_trywrlock(&lock_) == 0; }
  void unlock() noexcept { pthread_rwlock_unlock(&lock_); }
  void lock_shared() noexcept { pthread_rwlock_rdlock(&lock_); }
  bool try_lock_shared() noexcept { return pthread_rwlock_tryrdlock(&lock_) == 0; }
  bool try_lock_shared_until_ns(std::uint64_t deadline) noexcept {
    const timespec until = monotonic_time(deadline);
    return pthread_rwlock_clockrdlock(&lock_, CLOCK_MONOTONIC, &until) == 0;
  }
  void unlock_shared() noexcept { pthread_rwlock_unlock(&lock_); }
  bool has_writer() const noexcept { return state().shared.rwlock.has_writer(); }
  unsigned readers() const noexcept { return state().shared.rwlock.readers(); }

 private:
  preload::rwlock_state& state() const noexcept { return preload::state_of(&lock_); }
  mutable pthread_rwlock_t lock_ = PTHREAD_RWLOCK_INITIALIZER;
};
using readers_first = pthread_rwlock<PTHREAD_RWLOCK_PREFER_READER_NP>;
using writers_first = pthread_rwlock<PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP>;

/// A reader that enters twice, and tries to write inside.
struct again_test {
  readers_first lock{};
  std::uint64_t value = 0;
  bool met = false;

  static void body(again_test& me, unsigned index) {
    if (index != 0) {
      me.lock.lock();
      ++me.value;
      return me.lock.unlock();
    }
    me.lock.lock_shared();
    const std::uint64_t seen = me.value;
    me.lock.lock_shared();
    if (me.lock.try_lock() || me.value != seen) me.met = true;
    me.lock.unlock_shared();
    if (me.value != seen) me.met = true;
    me.lock.unlock_shared();
  }
  const char* check() const {
    if (met) return "a thread wrote where another one read";
    if (lock.has_writer() || lock.readers() != 0) return "the lock is not free at the end";
    return value != 2 ? "an update was lost" : nullptr;
  }
};

constexpr unsigned sleeps = 1;

template <class Lock, entry how = entry::waits, unsigned threads = 3, unsigned sections = 2>
constexpr exploration test_of(const char* name, const char* summary, unsigned cpus = 0) {
  return {name, summary, verdict::right, run_anew<read_write_test<Lock, threads, sections, how>, threads>, cpus};
}

constexpr exploration table[] = {
    test_of<readers_first, entry::waits, 2, 3>("pthread_rwlock-elided", "a program's reader-writer locks, elided"),
    test_of<readers_first, entry::tries>("pthread_rwlock-elided-try", "the same, by tries"),
    test_of<readers_first, entry::hurries>("pthread_rwlock-elided-deadline", "the same, with deadlines", sleeps),
    test_of<calling_shared<readers_first>>("pthread_rwlock-elided-kinds", "the same, with writers that take the lock",
                                           sleeps),
    {"pthread_rwlock-elided-twice", "the same, a reader enters twice, two writers", verdict::right,
     run_anew<again_test, 3>, sleeps},
    test_of<writers_first>("pthread_rwlock-elided-writers", "the same where writers come first", sleeps),
    test_of<calling_shared<writers_first>, entry::hurries>(
        "pthread_rwlock-elided-writers-kinds", "the same, with writers that take the lock and deadlines", sleeps),
};

}  // namespace

std::span<const exploration> rwlock_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations

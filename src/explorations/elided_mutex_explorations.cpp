// SPDX-License-Identifier: Apache-2.0
// A program's pthread mutexes under the preloaded library if their critical sections are elided. They are entered by
// waiting, by tries and with deadlines, twice by one thread, beside sections that take the mutex, and around a wait.
#include <pthread.h>

#include "explorations/condition_waits.hpp"
#include "explorations/exploration.hpp"
#include "explorations/program_locks.hpp"
#include "workloads/harness/adapters.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {
using workloads::lockable;

using preload::algorithm;

using futex = program_elided_mutex<algorithm::futex>;
using ticket = program_elided_mutex<algorithm::ticket>;
using tatas = program_elided_mutex<algorithm::tatas>;
using recursive = program_elided_mutex<algorithm::checked_futex, PTHREAD_MUTEX_RECURSIVE>;

/// Each section is entered a second time within itself, by waiting and by a try.
class entering_twice {
 public:
  struct slot {
    unsigned turn = 0;
  };
  void lock(slot& mine) noexcept {
    lock_.lock();
    if (mine.turn++ % 2 == 0) return lock_.lock();
    while (!lock_.try_lock()) machine::relax();
  }
  void unlock(slot&) noexcept {
    lock_.unlock();
    lock_.unlock();
  }

 private:
  recursive lock_;
};

/// Overlapping sections of two mutexes, every other one with a system call in both. The first may be part of an
/// attempt; then the outer mutex is taken, and the inner one is elided in its own attempt.
template <class Mutex>
struct overlapping_test {
  static constexpr unsigned threads = 3;
  static constexpr unsigned sections = 2;

  Mutex first{};
  Mutex second{};
  alignas(64) std::uint64_t in_first = 0;
  std::uint64_t in_both = 0;
  alignas(64) std::uint64_t in_second = 0;

  static void body(overlapping_test& me, unsigned index) {
    for (unsigned i = 0; i < sections; ++i) {
      me.first.lock();
      ++me.in_first;
      me.second.lock();
      ++me.in_both;
      if ((index + i) % 2 == 0) machine::yield();
      me.first.unlock();
      ++me.in_second;
      me.second.unlock();
    }
  }
  const char* check() const {
    constexpr std::uint64_t all = std::uint64_t{threads} * sections;
    return in_first != all || in_both != all || in_second != all ? "an update was lost" : nullptr;
  }
};

constexpr unsigned sleeps = 1;

template <class Adapter, unsigned threads = 3, unsigned sections = 2>
constexpr exploration test_of(const char* name, const char* summary, unsigned cpus = 0) {
  return {name, summary, verdict::right, exclusion_test<Adapter, threads, sections>::run, cpus};
}

constexpr exploration table[] = {
    test_of<lockable<futex>, 2, 3>("pthread_mutex-elided", "a program's mutexes, elided"),
    test_of<lockable<ticket>>("pthread_mutex-elided-ticket", "the same, ticket locks"),
    test_of<trying<futex>>("pthread_mutex-elided-try", "the same, by tries", sleeps),
    test_of<trying<tatas>>("pthread_mutex-elided-tatas-try", "the same, tatas", sleeps),
    test_of<hurrying<futex>>("pthread_mutex-elided-deadline", "the same, with deadlines", sleeps),
    test_of<hurrying<ticket>>("pthread_mutex-elided-ticket-deadline", "the same, ticket locks", sleeps),
    test_of<entering_twice>("pthread_mutex-elided-recursive", "recursive mutexes, elided, entered twice", sleeps),
    test_of<calling<entering_twice>>("pthread_mutex-elided-recursive-kinds", "the same, some call the system", sleeps),
    test_of<calling<lockable<futex>>>("pthread_mutex-elided-kinds", "elided mutexes, some sections call the system",
                                      sleeps),
    test_of<calling<trying<ticket>>>("pthread_mutex-elided-ticket-kinds", "the same, ticket locks and tries"),
    {"pthread_mutex-elided-nested", "sections of two elided mutexes that overlap, some call the system", verdict::right,
     run_anew<overlapping_test<futex>, 3>, sleeps},
    {"pthread_mutex-elided-wait", "a wait within sections of two elided mutexes", verdict::right,
     run_anew<nested_wait_test<futex, program_condition>, 3>},
};

}  // namespace

std::span<const exploration> elided_mutex_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations

// SPDX-License-Identifier: Apache-2.0
// A program's pthread conditions under the preloaded library, with mutexes whose critical sections are elided. Signals
// wait for the commit; waits take the mutex.
#include <pthread.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <mutex>

#include <txsync/machine/park.hpp>

#include "explorations/condition_waits.hpp"
#include "explorations/exploration.hpp"
#include "explorations/program_locks.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {

using elided_mutex = program_elided_mutex<preload::algorithm::futex>;

/// A waiter with a deadline destroys its condition as soon as it has seen what it waited for, notified or not.
struct gone_test {
  static constexpr unsigned char poison = 0xA5;

  elided_mutex lock{};
  alignas(64) pthread_cond_t own = PTHREAD_COND_INITIALIZER;
  bool done = false;
  bool busy = false;

  static void body(gone_test& me, unsigned index) {
    if (index == 0) {
      const std::lock_guard guard(me.lock);
      if (!me.done) pthread_cond_broadcast(&me.own);
      me.done = true;
      return;
    }
    {
      const std::lock_guard guard(me.lock);
      while (!me.done) {
        timespec soon{};
        clock_gettime(CLOCK_MONOTONIC, &soon);
        soon.tv_nsec += 100;
        pthread_cond_clockwait(&me.own, me.lock.native_handle(), CLOCK_MONOTONIC, &soon);
      }
    }
    if (pthread_cond_destroy(&me.own) != 0) me.busy = true;
    std::memset(&me.own, poison, sizeof me.own);
  }
  const char* check() const {
    if (busy) return "a condition that nobody waits on was busy";
    unsigned char bytes[sizeof own];
    std::memcpy(bytes, &own, sizeof own);
    for (const unsigned char byte : bytes) {
      if (byte != poison) return "a destroyed condition was written";
    }
    return nullptr;
  }
};

constexpr unsigned sleeps = 1;

template <unsigned threads, unsigned takes, telling how>
constexpr exploration handing(const char* name, const char* summary, unsigned cpus = 0) {
  return {name, summary, verdict::right,
          run_anew<handing_test<elided_mutex, program_condition, threads, takes, how>, threads>, cpus};
}

constexpr exploration table[] = {
    handing<2, 3, telling::one>("pthread_cond-elided",
                                "a program's conditions with elided mutexes: one puts, one takes"),
    handing<2, 2, telling::one>("pthread_cond-elided-sleeping", "the same, told that there is one CPU", sleeps),
    handing<3, 2, telling::all>("pthread_cond-elided-3", "one puts, two take, all are told"),
    {"pthread_cond-elided-gone", "a waiter with a deadline destroys the condition", verdict::right,
     run_anew<gone_test, 2>, sleeps},
};

}  // namespace

std::span<const exploration> condition_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations

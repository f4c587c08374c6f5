// SPDX-License-Identifier: Apache-2.0
// A program's pthread conditions under the preloaded library, with mutexes whose sections are elided: signals that wait
// for the commit, waits that take the mutex.
#include <pthread.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <mutex>

#include <txsync/machine/park.hpp>

#include "preload/mutex_state.hpp"
#include "workloads/explored/exploration.hpp"
#include "workloads/explored/handing_over.hpp"
#include "workloads/explored/program_role.hpp"

namespace txsync::inline TXSYNC_BACKEND::workloads {

namespace {

constexpr std::uint32_t site = 3;

class elided_mutex {
 public:
  elided_mutex() noexcept {
    make_program_role<site>({.under = preload::algorithm::futex, .elides = true, .warms = false});
    preload::state_of(&mutex_).tag.store(preload::lock_tag(preload::algorithm::by_role, site).bits());
  }
  void lock() noexcept { pthread_mutex_lock(&mutex_); }
  void unlock() noexcept { pthread_mutex_unlock(&mutex_); }
  pthread_mutex_t* native_handle() noexcept { return &mutex_; }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

class condition {
 public:
  template <class Predicate>
  void wait(std::unique_lock<elided_mutex>& held, Predicate ready) {
    while (!ready()) pthread_cond_wait(&condition_, held.mutex()->native_handle());
  }
  void notify_one() noexcept { pthread_cond_signal(&condition_); }
  void notify_all() noexcept { pthread_cond_broadcast(&condition_); }

 private:
  pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;
};

/// A waiter with a deadline destroys its condition as soon as it has seen what it waited for, told or not.
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
  return {name, summary, verdict::right, run_anew<handing_test<elided_mutex, condition, threads, takes, how>, threads>,
          cpus};
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

}  // namespace txsync::inline TXSYNC_BACKEND::workloads

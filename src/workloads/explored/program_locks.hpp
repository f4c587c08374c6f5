// SPDX-License-Identifier: Apache-2.0
// A program's pthread locks, as the preloaded library has them at a site with a role.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <ctime>
#include <mutex>
#include <new>

#include "preload/mutex_state.hpp"
#include "preload/roles.hpp"

namespace txsync::inline TXSYNC_BACKEND::workloads {

/// The one site of all of them.
inline constexpr std::uint32_t program_site = 1;

/// Makes the site's role anew, with the eager presets: nothing may be learnt from one schedule to the next.
inline void make_program_role(const preload::role_choices& what) noexcept {
  using role = preload::lock_role;
  alignas(role) static unsigned char place[sizeof(role)];
  preload::roles[program_site].store(new (place) role(0, elision_presets::eager, warm_up_presets::eager, what));
}

/// A time on CLOCK_MONOTONIC, which is machine::clock_ns().
inline timespec monotonic_time(std::uint64_t ns) noexcept {
  constexpr std::uint64_t second = 1'000'000'000;
  return {static_cast<std::time_t>(ns / second), static_cast<long>(ns % second)};
}

template <preload::role_choices what, int kind = PTHREAD_MUTEX_NORMAL>
class program_mutex {
 public:
  program_mutex() noexcept {
    make_program_role(what);
    preload::mutex_state& state = preload::state_of(&mutex_);
    state.kind.store(kind);
    state.tag.store(preload::lock_tag(preload::algorithm::by_role, program_site).bits());
  }
  void lock() noexcept { pthread_mutex_lock(&mutex_); }
  bool try_lock() noexcept { return pthread_mutex_trylock(&mutex_) == 0; }
  bool try_lock_until_ns(std::uint64_t deadline) noexcept {
    const timespec until = monotonic_time(deadline);
    return pthread_mutex_clocklock(&mutex_, CLOCK_MONOTONIC, &until) == 0;
  }
  void unlock() noexcept { pthread_mutex_unlock(&mutex_); }
  pthread_mutex_t* native_handle() noexcept { return &mutex_; }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};
template <preload::algorithm under, int kind = PTHREAD_MUTEX_NORMAL>
using program_elided_mutex = program_mutex<preload::role_choices{.under = under, .elides = true, .warms = false}, kind>;
template <preload::algorithm under>
using program_warming_mutex = program_mutex<preload::role_choices{.under = under, .elides = false, .warms = true}>;

class program_condition {
 public:
  template <class Mutex, class Predicate>
  void wait(std::unique_lock<Mutex>& held, Predicate ready) {
    while (!ready()) pthread_cond_wait(&condition_, held.mutex()->native_handle());
  }
  void notify_one() noexcept { pthread_cond_signal(&condition_); }
  void notify_all() noexcept { pthread_cond_broadcast(&condition_); }

 private:
  pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;
};

}  // namespace txsync::inline TXSYNC_BACKEND::workloads

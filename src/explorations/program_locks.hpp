// SPDX-License-Identifier: Apache-2.0
// A program's pthread locks as the preloaded library has them, at a site whose locks speculate.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <ctime>
#include <mutex>
#include <new>

#include "preload/mutex_state.hpp"
#include "preload/speculating_sites.hpp"
#include "speculate/scoped_site.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

/// The site of all of them.
inline constexpr std::uint32_t program_site = 1;

/// Makes a new site with the eager presets, because nothing may be learnt from one schedule to the next.
inline void make_program_site(const preload::site_choices& what) noexcept {
  static preload::site_block block;
  alignas(detail::site_page) static unsigned char page[sizeof(detail::site_page)];
  auto* const made = new (block.room[program_site]) preload::speculating_site(0);
  made->lock_site.set_policy(
      policy::packed{.counting = false, .elision = policy::elision_kind::eager, .warm_up = policy::warm_up_kind::eager}
          .word());
  auto* const state = new (page) detail::site_page(made->lock_site);
  state->apply_policy();
  (void)detail::site_state::replace(made->lock_site, detail::undecided, *state);
  made->set_choices(what);
  preload::site_blocks[0].store(&block);
}

/// A time on CLOCK_MONOTONIC, which is machine::clock_ns().
inline timespec monotonic_time(std::uint64_t ns) noexcept {
  constexpr std::uint64_t second = 1'000'000'000;
  return {static_cast<std::time_t>(ns / second), static_cast<long>(ns % second)};
}

template <preload::site_choices what, int kind = PTHREAD_MUTEX_NORMAL>
class program_mutex {
 public:
  program_mutex() noexcept {
    make_program_site(what);
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
using program_elided_mutex = program_mutex<preload::site_choices{.under = under, .elides = true, .warms = false}, kind>;
template <preload::algorithm under>
using program_warming_mutex = program_mutex<preload::site_choices{.under = under, .elides = false, .warms = true}>;

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

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations

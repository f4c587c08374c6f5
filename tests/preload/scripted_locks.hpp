// SPDX-License-Identifier: Apache-2.0
// The preloaded library's own locks on the scripted machine. Their functions have other names here, and the launcher
// and the C library behind them are replaced. Included once in a test program.
#pragma once

#include <gtest/gtest.h>

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include <machine/scripted/script.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/memory.hpp>
#include <txsync/speculate/site_page.hpp>

#include "../speculate/unlearnt.hpp"
#include "policy/words.hpp"
#include "preload/known_tags.hpp"
#include "preload/mutex_state.hpp"
#include "preload/next.hpp"
#include "preload/order.hpp"
#include "preload/profile_writer.hpp"
#include "preload/speculating_sites.hpp"

extern "C" {
int scripted_mutex_init(pthread_mutex_t* mutex, const pthread_mutexattr_t* attributes) noexcept;
int scripted_mutex_destroy(pthread_mutex_t* mutex) noexcept;
int scripted_mutex_lock(pthread_mutex_t* mutex) noexcept;
int scripted_mutex_trylock(pthread_mutex_t* mutex) noexcept;
int scripted_mutex_timedlock(pthread_mutex_t* mutex, const timespec* time) noexcept;
int scripted_mutex_unlock(pthread_mutex_t* mutex) noexcept;
int scripted_cond_destroy(pthread_cond_t* condition) noexcept;
int scripted_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex);
int scripted_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* time);
int scripted_cond_signal(pthread_cond_t* condition) noexcept;
int scripted_cond_broadcast(pthread_cond_t* condition) noexcept;
int scripted_rwlock_init(pthread_rwlock_t* lock, const pthread_rwlockattr_t* attributes) noexcept;
int scripted_rwlock_destroy(pthread_rwlock_t* lock) noexcept;
int scripted_rwlock_rdlock(pthread_rwlock_t* lock) noexcept;
int scripted_rwlock_tryrdlock(pthread_rwlock_t* lock) noexcept;
int scripted_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* time) noexcept;
int scripted_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock, const timespec* time) noexcept;
int scripted_rwlock_wrlock(pthread_rwlock_t* lock) noexcept;
int scripted_rwlock_trywrlock(pthread_rwlock_t* lock) noexcept;
int scripted_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* time) noexcept;
int scripted_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock, const timespec* time) noexcept;
int scripted_rwlock_unlock(pthread_rwlock_t* lock) noexcept;
}

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

site_answer answer;
std::atomic<std::uint32_t> policies_told[max_sites + 1];  // by site, as the launcher has them for all processes
std::vector<diagnostic_kind> told;

/// A machine with hardware transactions, and no site that anything is known of.
class ScriptedLocks : public testing::Test {
 protected:
  ScriptedLocks() {
    have_unlearnt_rtm(script);
    told.clear();
    order_watched.store(false);
    for (std::atomic<site_block*>& block : site_blocks) {
      if (site_block* const made = block.exchange(nullptr)) machine::unmap_pages(made, sizeof(site_block));
    }
  }
  ~ScriptedLocks() override { order_watched.store(false); }

  /// What follows is played as by another program that uses the same memory: it has met none of the sites. The blocks
  /// stay, since the calling thread still has pointers to sites.
  static void become_another_process() noexcept {
    for (std::atomic<site_block*>& block : site_blocks) block.store(nullptr);
  }

  static pthread_mutex_t made(int type) {
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, type);
    pthread_mutex_t mutex;
    EXPECT_EQ(scripted_mutex_init(&mutex, &how), 0);
    pthread_mutexattr_destroy(&how);
    return mutex;
  }

  script::machine_script script;
};

}  // namespace

constinit std::atomic<const next_functions*> found_functions{nullptr};
const next_functions& find_functions() noexcept {
  static const next_functions libc = [] {
    next_functions made{};
    made.mutex_init = pthread_mutex_init;
    made.mutex_destroy = pthread_mutex_destroy;
    made.mutex_lock = pthread_mutex_lock;
    made.mutex_trylock = pthread_mutex_trylock;
    made.mutex_unlock = pthread_mutex_unlock;
    made.rwlock_init = pthread_rwlock_init;
    made.rwlock_destroy = pthread_rwlock_destroy;
    made.rwlock_rdlock = pthread_rwlock_rdlock;
    made.rwlock_tryrdlock = pthread_rwlock_tryrdlock;
    made.rwlock_wrlock = pthread_rwlock_wrlock;
    made.rwlock_trywrlock = pthread_rwlock_trywrlock;
    made.rwlock_unlock = pthread_rwlock_unlock;
    return made;
  }();
  return libc;
}
site_answer find_site(object_kind, const void*) noexcept {
  policies_told[answer.site].store(answer.policy.word());
  return answer;
}
policy::packed policy_of_site(std::uint32_t number) noexcept {
  return policy::packed::of(policies_told[number].load());
}
std::uint16_t known_tag(std::uintptr_t, const void*) noexcept { return 0; }
void remember_tag(std::uintptr_t, std::uint16_t) noexcept {}
void remember_tag_of_all(std::uint16_t) noexcept {}
void report(diagnostic_kind kind, std::uint32_t, std::uint32_t) noexcept {
  EXPECT_FALSE(machine::active()) << "what an attempt tells nobody hears";
  told.push_back(kind);
}
void write_chain(chain_kind, lock_call, std::uint32_t, const observe::wait_sum&) noexcept {}
void write_event(event_kind, std::uint32_t, const void*, std::uint64_t, std::uint64_t) noexcept {}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

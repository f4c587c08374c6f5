// SPDX-License-Identifier: Apache-2.0
// What stands for next.cpp, call_chain.cpp and channel_file.cpp in a simulated program: there is no other library
// behind this one, no process that watches, and sites are found by the simulated machine's own reports.
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "call_chain.hpp"
#include "next.hpp"
#include "policy/words.hpp"
#include "sites.hpp"

extern "C" {
// sim/program.h and the program library (src/sim/toolchain/library)
[[noreturn]] void txsync_sim_unsupported(const char* name);
int txsync_sim_libc_mutex_init(pthread_mutex_t* made, const pthread_mutexattr_t* how) noexcept;
int txsync_sim_libc_rwlock_init(pthread_rwlock_t* made, const pthread_rwlockattr_t* how) noexcept;
int txsync_sim_libc_cond_init(pthread_cond_t* made, const pthread_condattr_t* how) noexcept;
int txsync_sim_libc_barrier_init(pthread_barrier_t* made, const pthread_barrierattr_t* how, unsigned threads) noexcept;
int txsync_sim_libc_spin_init(pthread_spinlock_t* made, int shared) noexcept;
}

namespace txsync::inline TXSYNC_BACKEND::preload {

namespace {

constexpr const char* foreign = "a lock that is robust, priority-inheriting or shared by processes";

template <class Result, class... Arguments>
constexpr void refuse(Result (*&function)(Arguments...)) {
  function = [](Arguments...) -> Result { txsync_sim_unsupported(foreign); };
}
template <class Result, class... Arguments>
constexpr void refuse(Result (*&function)(Arguments...) noexcept) {
  function = [](Arguments...) noexcept -> Result { txsync_sim_unsupported(foreign); };
}
template <class... Functions>
constexpr void refuse_all(Functions&... functions) {
  (refuse(functions), ...);
}

constexpr next_functions make() {
  next_functions all{};
  refuse_all(all.mutex_destroy, all.mutex_lock, all.mutex_trylock, all.mutex_timedlock, all.mutex_clocklock,
             all.mutex_unlock, all.rwlock_destroy, all.rwlock_rdlock, all.rwlock_tryrdlock, all.rwlock_timedrdlock,
             all.rwlock_clockrdlock, all.rwlock_wrlock, all.rwlock_trywrlock, all.rwlock_timedwrlock,
             all.rwlock_clockwrlock, all.rwlock_unlock, all.spin_lock, all.spin_trylock, all.spin_unlock,
             all.cond_destroy, all.cond_wait, all.cond_timedwait, all.cond_clockwait, all.cond_signal,
             all.cond_broadcast, all.barrier_destroy, all.barrier_wait);
  all.mutex_init = txsync_sim_libc_mutex_init;
  all.rwlock_init = txsync_sim_libc_rwlock_init;
  all.cond_init = txsync_sim_libc_cond_init;
  all.barrier_init = txsync_sim_libc_barrier_init;
  all.spin_init = txsync_sim_libc_spin_init;
  return all;
}

constinit const next_functions functions = make();

}  // namespace

namespace {

/// "1" is what txsync does unless told otherwise; else the words of policy files.
policy::elision_kind asked_elision(const char* asked) noexcept {
  if (asked == nullptr) return policy::elision_kind::off;
  for (const auto& [word, kind] : policy::words_of<policy::elision_kind>::all) {
    if (std::strcmp(word, asked) == 0) return kind;
  }
  return std::strcmp(asked, "1") == 0 ? policy::elision_kind::standard : policy::elision_kind::off;
}

}  // namespace

const next_functions& next() noexcept { return functions; }

void open_channel() noexcept {}
channel* open_file() noexcept { return nullptr; }

policy::elision_kind default_elision() noexcept {
  static constinit std::atomic<policy::elision_kind> known{policy::elision_kind::unsaid};
  // relaxed: all would store the same
  policy::elision_kind answer = known.load(std::memory_order_relaxed);
  if (answer == policy::elision_kind::unsaid) {
    answer = asked_elision(std::getenv("TXSYNC_SIM_ELIDE"));
    known.store(answer, std::memory_order_relaxed);
  }
  return answer;
}

void say(const char* text, std::size_t length) noexcept { (void)!write(STDERR_FILENO, text, length); }

call_chain chain_of_caller() noexcept { return {}; }
std::uint64_t call_chain::hash() const noexcept { return 1; }
void describe(const call_chain&, place& out) noexcept { out = {}; }

}  // namespace txsync::inline TXSYNC_BACKEND::preload

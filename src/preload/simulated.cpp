// SPDX-License-Identifier: Apache-2.0
// Replaces some files in a simulated program: next.cpp, call_chain.cpp, contention.cpp, process.cpp, default_policy.cpp
// and src/channel. There is no other library behind this one, and no process that watches. The simulated machine's own
// reports find the sites.
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/observe/counters.hpp>

#include "call_chain.hpp"
#include "channel/site_requests.hpp"
#include "contention.hpp"
#include "identity.hpp"
#include "known_tags.hpp"
#include "loaded_code.hpp"
#include "main_heap.hpp"
#include "next.hpp"
#include "observe/site_records.hpp"
#include "policy/words.hpp"
#include "sim/protocol.hpp"
#include "sites.hpp"

extern "C" {
// sim/program.h and the program library (src/sim/toolchain/library)
[[noreturn]] void txsync_sim_unsupported(const char* name);
void txsync_sim_record(const char* name, std::uint64_t value);
void txsync_sim_at_end();
int txsync_sim_libc_mutex_init(pthread_mutex_t* made, const pthread_mutexattr_t* how) noexcept;
int txsync_sim_libc_rwlock_init(pthread_rwlock_t* made, const pthread_rwlockattr_t* how) noexcept;
int txsync_sim_libc_cond_init(pthread_cond_t* made, const pthread_condattr_t* how) noexcept;
int txsync_sim_libc_barrier_init(pthread_barrier_t* made, const pthread_barrierattr_t* how, unsigned threads) noexcept;
int txsync_sim_libc_spin_init(pthread_spinlock_t* made, int shared) noexcept;
}

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

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

/// Whether `text` begins with "KEY=WORD" and the word ends there.
bool says(std::string_view text, std::string_view key, std::string_view word) noexcept {
  if (!text.starts_with(key) || text.size() == key.size() || text[key.size()] != '=') return false;
  const std::string_view value = text.substr(key.size() + 1);
  return policy::is_word(value.substr(0, value.find(' ')), word);
}

/// True if `text` begins with the key and one of its words, which is then stored in `into`.
template <class Kind>
bool read(const char* text, const char* key, Kind& into) noexcept {
  for (const auto& [word, kind] : policy::words_of<Kind>::all) {
    if (!says(text, key, word)) continue;
    into = kind;
    return true;
  }
  return false;
}

/// "lock=ticket warm_up=paper": keys and words of policy files. An unknown one ends the simulation.
void read_all(const char* text, policy::packed& into) noexcept {
  while (*text != 0) {
    if (!read(text, "lock", into.lock) && !read(text, "elision", into.elision) &&
        !read(text, "warm_up", into.warm_up) && !read(text, "rwlock", into.rwlock)) {
      txsync_sim_unsupported("a word of TXSYNC_SIM_LOCKS");
    }
    while (*text != 0 && *text != ' ') ++text;
    while (*text == ' ') ++text;
  }
}

policy::packed asked_policy() noexcept {
  policy::packed words{policy::lock_kind::mutex, policy::rwlock_kind::rwlock, policy::spinlock_kind::tatas, true};
  // "1" is txsync's default; anything else is words of policy files.
  if (const char* const elision = std::getenv(sim::option::elide)) {
    if (std::strcmp(elision, "1") == 0) words.elision = policy::elision_kind::standard;
    for (const auto& [word, kind] : policy::words_of<policy::elision_kind>::all) {
      if (policy::is_word(elision, word)) words.elision = kind;
    }
  }
  if (const char* const locks = std::getenv(sim::option::locks)) read_all(locks, words);
  return words;
}

}  // namespace

constinit std::atomic<const next_functions*> found_functions{&functions};
const next_functions& find_functions() noexcept { return functions; }

policy::packed default_policy() noexcept {
  static constinit std::atomic<std::uint32_t> known{0};
  // relaxed: all threads would store the same; no policy of asked_policy() is 0
  std::uint32_t answer = known.load(std::memory_order_relaxed);
  if (answer == 0) {
    answer = asked_policy().word();
    known.store(answer, std::memory_order_relaxed);
  }
  return policy::packed::of(answer);
}

std::uint32_t site_without_channel() noexcept {
  static constinit site all_locks{"all locks"};
  return all_locks.id();
}

std::uint32_t kernels_thread_number() noexcept { return machine::thread_id(); }
std::uint32_t process_number() noexcept { return machine::fork_count() + 1; }
std::uint16_t process_mark() noexcept { return static_cast<std::uint16_t>(process_number()); }
bool is_shared_memory(const void*) noexcept { return false; }

void log(const char* text, std::size_t length) noexcept { (void)!write(STDERR_FILENO, text, length); }

std::uint64_t code_epoch() noexcept { return 1; }
void remember_code(const std::uintptr_t*, std::uint32_t) noexcept {}

call_chain chain_of_caller() noexcept { return {}; }
std::uint64_t call_chain::hash() const noexcept { return 1; }
void describe(const call_chain&, frame_list& out) noexcept { out = {}; }
static_location find_static(const void*) noexcept { return {}; }
std::uint64_t static_location::file_hash() const noexcept { return 1; }
void describe(const static_location&, frame_list& out) noexcept { out = {}; }
quick_walk::quick_walk(const void*) noexcept {}
std::uintptr_t quick_walk::next() noexcept { return 0; }
bool is_on_stack(const void*) noexcept { return false; }
bool is_on_main_heap(const void*) noexcept { return false; }
std::uint16_t known_tag(std::uintptr_t, const void*) noexcept { return 0; }
void remember_tag(std::uintptr_t, std::uint16_t) noexcept {}
void remember_tag_of_all(std::uint16_t) noexcept {}

begun_wait begin_wait(std::uint32_t site, const void* lock, lock_call) noexcept {
  return {observe::detail::wait_begins(site, lock), nullptr};
}
void end_wait(std::uint32_t site, const void* lock, lock_call, const begun_wait& wait) noexcept {
  observe::detail::waited(site, lock, machine::cycles() - wait.since);
}
void fail_wait(std::uint32_t site, const void* lock, lock_call, const begun_wait& wait) noexcept {
  observe::detail::wait_timed_out(site, lock, machine::cycles() - wait.since);
}
void forget_wait(const begun_wait&) noexcept {}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

namespace txsync::TXSYNC_INLINE_BACKEND::channel {

head* open_file() noexcept { return nullptr; }
std::uint32_t launchers_number(const head&) noexcept { return 0; }
bool has_ended(std::uint32_t) noexcept { return false; }

// There is nobody to ask.
claim claim_site_request(head&) noexcept { return {}; }
bool ask(head&, const claim&) noexcept { return false; }
void give_back(const claim&) noexcept {}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::channel

void txsync_sim_at_end() { txsync::observe::record_attempts(txsync_sim_record); }

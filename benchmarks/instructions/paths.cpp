// SPDX-License-Identifier: Apache-2.0
#include "instructions/paths.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#if defined TXSYNC_PEER_TBB
#include <oneapi/tbb/mutex.h>
#endif

#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/futex_rwlock.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/occ_rwlock.hpp>
#include <txsync/locks/priority_tatas.hpp>
#include <txsync/locks/spinning_mutex.hpp>
#include <txsync/locks/srwlock.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/mutex.hpp>
#include <txsync/policy_mutex.hpp>
#include <txsync/shared_mutex.hpp>
#include <txsync/speculate/elided.hpp>
#include <txsync/speculate/warming.hpp>
#include <txsync/tm.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

/// Also past the first sections of a thread, which are all counted at their sites.
constexpr unsigned learning = 5'000;

template <class Entry>
[[gnu::noinline]] void run(volatile unsigned* counts, unsigned pairs, void (*ready)()) {
  static Entry entry;
  for (unsigned i = 0; i < learning; ++i) {
    entry.enter();
    entry.leave();
  }
  ready();
  for (unsigned i = 0; i < pairs; ++i) {
    *counts = 1;
    entry.enter();
    entry.leave();
    *counts = 0;
  }
}

struct nothing {
  void enter() {}
  void leave() {}
};
template <class Lock>
struct exclusively {
  Lock lock{};
  void enter() { lock.lock(); }
  void leave() { lock.unlock(); }
};
template <class Lock>
struct with_node {
  Lock lock{};
  typename Lock::node node{};
  void enter() { lock.lock(node); }
  void leave() { lock.unlock(node); }
};
template <class Lock>
struct shared {
  Lock lock{};
  void enter() { lock.lock_shared(); }
  void leave() { lock.unlock_shared(); }
};

/// A policy_mutex whose site has that policy.
template <std::uint32_t word>
struct by_policy {
  static inline constinit site place{"bench.instructions"};
  policy_mutex lock{place};
  by_policy() { place.set_policy(word); }
  void enter() { lock.lock(); }
  void leave() { lock.unlock(); }
};

/// An atomic block by dctl. With company, another thread runs blocks on other data all the time, so the quiescence gate is
/// never biased to the thread that is stepped.
template <bool has_company>
class atomic_block {
 public:
  atomic_block() {
    if (!tm::use_algorithm("dctl")) std::abort();
    if constexpr (has_company) {
      company_ = std::thread([this] {
        while (!stop_.load()) {
          tm::atomically(of_company_, [&](auto& tx) { return tx.read(apart_.value); });
          std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
      });
    }
  }
  ~atomic_block() {
    stop_ = true;
    if (company_.joinable()) company_.join();
  }
  atomic_block(const atomic_block&) = delete;
  atomic_block& operator=(const atomic_block&) = delete;
  void leave() {}

 protected:
  struct alignas(machine::pad_bytes) account {
    tm::var<long> value{0};
  };
  account from_, to_;
  static inline constinit tm::block here_{"bench.instructions.here"};

 private:
  account apart_;
  static inline constinit tm::block of_company_{"bench.instructions.company"};
  std::atomic<bool> stop_{false};
  std::thread company_;
};

template <bool has_company>
struct one_read : atomic_block<has_company> {
  void enter() {
    tm::atomically(this->here_, [&](auto& tx) { return tx.read(this->from_.value); });
  }
};
template <bool has_company>
struct transfer : atomic_block<has_company> {
  void enter() {
    tm::atomically(this->here_, [&](auto& tx) {
      tx.write(this->from_.value, tx.read(this->from_.value) - 1);
      tx.write(this->to_.value, tx.read(this->to_.value) + 1);
    });
  }
};

constexpr uncontended_path of_library[] = {
    {"tatas", run<exclusively<tatas_lock>>},
    {"elided tatas", run<exclusively<elided<tatas_lock>>>},
    {"warming tatas", run<exclusively<warming<tatas_lock>>>},
    {"priority_tatas", run<exclusively<priority_tatas_lock>>},
    {"warming priority_tatas", run<exclusively<warming<priority_tatas_lock>>>},
    {"ticket", run<exclusively<ticket_lock>>},
    {"elided ticket", run<exclusively<elided<ticket_lock>>>},
    {"warming ticket", run<exclusively<warming<ticket_lock>>>},
    {"fifo_ticket", run<exclusively<fifo_ticket_lock>>},
    {"elided fifo_ticket", run<exclusively<elided<fifo_ticket_lock>>>},
    {"warming fifo_ticket", run<exclusively<warming<fifo_ticket_lock>>>},
    {"mcs", run<with_node<mcs_lock>>},
    {"elided mcs", run<with_node<elided_with_node<mcs_lock>>>},
    {"warming mcs", run<with_node<warming_with_node<mcs_lock>>>},
    {"futex", run<exclusively<futex_mutex>>},
    {"elided futex", run<exclusively<elided<futex_mutex>>>},
    {"warming futex", run<exclusively<warming<futex_mutex>>>},
    {"spinning_mutex", run<exclusively<spinning_mutex>>},
    {"elided spinning_mutex", run<exclusively<elided<spinning_mutex>>>},
    {"txsync::mutex", run<exclusively<mutex>>},
    {"elided txsync::mutex", run<exclusively<elided<mutex>>>},
    {"warming txsync::mutex", run<exclusively<warming<mutex>>>},
    {"txsync::policy_mutex", run<by_policy<lock_policy::mutex>>},
    {"txsync::policy_mutex, tatas", run<by_policy<lock_policy::tatas>>},
    {"txsync::policy_mutex, ticket", run<by_policy<lock_policy::ticket>>},
    {"txsync::policy_mutex, fifo_ticket", run<by_policy<lock_policy::fifo_ticket>>},
    {"txsync::policy_mutex, spin", run<by_policy<lock_policy::spin>>},
    {"txsync::policy_mutex, priority_tatas", run<by_policy<lock_policy::priority_tatas>>},
    {"warming txsync::policy_mutex", run<exclusively<warming<policy_mutex>>>},
    {"futex_rwlock", run<exclusively<futex_rwlock>>},
    {"elided futex_rwlock", run<exclusively<elided_shared<futex_rwlock>>>},
    {"futex_rwlock, shared", run<shared<futex_rwlock>>},
    {"elided futex_rwlock, shared", run<shared<elided_shared<futex_rwlock>>>},
    {"occ_rwlock", run<exclusively<occ_rwlock>>},
    {"elided occ_rwlock", run<exclusively<elided_shared<occ_rwlock>>>},
    {"occ_rwlock, shared", run<shared<occ_rwlock>>},
    {"elided occ_rwlock, shared", run<shared<elided_shared<occ_rwlock>>>},
    {"srwlock", run<exclusively<srwlock>>},
    {"elided srwlock", run<exclusively<elided_shared<srwlock>>>},
    {"srwlock, shared", run<shared<srwlock>>},
    {"elided srwlock, shared", run<shared<elided_shared<srwlock>>>},
    {"txsync::shared_mutex", run<exclusively<shared_mutex>>},
    {"elided txsync::shared_mutex", run<exclusively<elided_shared<shared_mutex>>>},
    {"txsync::shared_mutex, shared", run<shared<shared_mutex>>},
    {"elided txsync::shared_mutex, shared", run<shared<elided_shared<shared_mutex>>>},
    {"atomic block, one read", run<one_read<true>>},
    {"atomic block, one read, one thread", run<one_read<false>>},
    {"atomic block, transfer", run<transfer<true>>},
    {"atomic block, transfer, one thread", run<transfer<false>>},
};

struct normal_mutex {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  void enter() { pthread_mutex_lock(&lock); }
  void leave() { pthread_mutex_unlock(&lock); }
};
struct recursive_mutex : normal_mutex {
  recursive_mutex() { lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; }
};
struct read_lock {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  void enter() { pthread_rwlock_rdlock(&lock); }
  void leave() { pthread_rwlock_unlock(&lock); }
};
struct write_lock : read_lock {
  void enter() { pthread_rwlock_wrlock(&lock); }
};
struct spin_lock {
  pthread_spinlock_t lock{};
  spin_lock() { pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE); }
  void enter() { pthread_spin_lock(&lock); }
  void leave() { pthread_spin_unlock(&lock); }
};

constexpr uncontended_path of_pthread[] = {
    {"normal", run<normal_mutex>}, {"recursive", run<recursive_mutex>},
    {"read", run<read_lock>},      {"write", run<write_lock>},
    {"spin", run<spin_lock>},
};

}  // namespace

const uncontended_path empty_path = {"nothing", run<nothing>};
std::span<const uncontended_path> library_paths() { return of_library; }
#if defined TXSYNC_PEER_TBB
std::span<const uncontended_path> peer_paths() {
  static constexpr uncontended_path all[] = {{"tbb::mutex", run<exclusively<tbb::mutex>>}};
  return all;
}
#else
std::span<const uncontended_path> peer_paths() { return {}; }
#endif
std::span<const uncontended_path> pthread_paths() { return of_pthread; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

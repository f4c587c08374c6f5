// SPDX-License-Identifier: Apache-2.0
// Every lock's exclusive sections: two threads with three sections each, and three threads with two. Locks whose
// waiters sleep are also run as if there were one CPU, where waiters sleep at once. Locks with a concurrency limiter
// are also run as if there were two, where it closes at once.
#include <atomic>
#include <tuple>

#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/futex_rwlock.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/occ_rwlock.hpp>
#include <txsync/locks/posix_mutex.hpp>
#include <txsync/locks/priority_tatas.hpp>
#include <txsync/locks/spinning_mutex.hpp>
#include <txsync/locks/srwlock.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/mutex.hpp>
#include <txsync/shared_mutex.hpp>
#include <txsync/speculate/elided.hpp>

#include "explorations/exploration.hpp"
#include "explorations/own_site.hpp"
#include "explorations/policy_locks.hpp"
#include "workloads/harness/adapters.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {
using workloads::lockable;
using workloads::lockable_shared;
using workloads::with_node;

/// Sections of one lock within sections of another.
template <class Lock>
class nested {
 public:
  struct slot {};
  void lock(slot&) noexcept {
    outer_.lock();
    inner_.lock();
  }
  void unlock(slot&) noexcept {
    inner_.unlock();
    outer_.unlock();
  }

 private:
  Lock outer_;
  Lock inner_;
};

/// Sections of two locks, beside sections of the inner one, which is held during a system call.
template <class Lock, bool tries>
struct inner_held_test {
  static constexpr unsigned sections = 2;
  Lock outer{};
  Lock inner{};
  std::uint64_t count = 0;
  std::uint64_t done[2] = {};

  bool enter_inner() {
    if constexpr (tries) return inner.try_lock();
    inner.lock();
    return true;
  }
  static void body(inner_held_test& me, unsigned index) {
    for (unsigned i = 0; i < sections; ++i) {
      if (index == 0) me.outer.lock();
      if (index == 1) me.inner.lock();
      if (index == 1 || me.enter_inner()) {
        const std::uint64_t before = me.count;
        if (index == 1) machine::yield();  // aborts any attempt
        me.count = before + 1;
        ++me.done[index];
        me.inner.unlock();
      }
      if (index == 0) me.outer.unlock();
    }
  }
  const char* check() const { return count != done[0] + done[1] ? "an update was lost" : nullptr; }
};

/// A test-and-set lock with Intel's prefixes (thesis 2.4.3).
class by_prefix {
 public:
  void lock() noexcept {
    while (machine::hle_acquire(word_, 1) != 0) {
      // relaxed: only a check, the exchange decides
      do machine::relax();
      while (word_.load(std::memory_order_relaxed) != 0);
    }
  }
  void unlock() noexcept { machine::hle_release(word_, 0); }

 private:
  std::atomic<std::uint32_t> word_{0};
};

/// Checks trials after every batch, and accepts a window of any length.
constexpr elision_policy restless{.max_backoff = 64, .trial_cycles = 1};

/// Attempts end with their section, and some attempts commit.
template <class Lock>
struct attempts_test {
  Lock lock{};
  bool elided = false;
  bool left_open = false;

  static void body(attempts_test& me, unsigned) {
    constexpr unsigned sections = 60;
    constexpr unsigned max_sections = 120;  // so many that probes cannot make all of them fail
    for (unsigned i = 0; i < sections || (i < max_sections && !me.elided); ++i) {
      me.lock.lock();
      const bool inside = machine::active();
      me.lock.unlock();
      if (inside) me.elided = true;
      if (machine::active()) me.left_open = true;
    }
  }
  const char* check() const {
    if (left_open) return "an attempt goes on behind its section";
    return elided ? nullptr : "no section was elided";
  }
};

template <class Lock>
struct nodes_of {
  static auto of(unsigned) { return std::tuple<>(); }
};
template <class Lock>
  requires requires { typename Lock::node; }
struct nodes_of<Lock> {
  typename Lock::node nodes[2];
  auto of(unsigned index) { return std::tie(nodes[index]); }
};

/// is_held() tells the truth, about a held lock and about a free one. So does an unlock that checks.
template <class Lock>
struct told_test : nodes_of<Lock> {
  static constexpr bool tells = requires(Lock& one) { one.unlock_if_held(); } ||
                                requires(Lock& one, typename Lock::node& mine) { one.unlock_if_held(mine); };
  Lock lock{};
  bool denied = false;

  /// If the lock can tell, returns whether it was held.
  bool unlock(unsigned index) {
    return std::apply(
        [&](auto&... mine) {
          if constexpr (tells) return lock.unlock_if_held(mine...);
          lock.unlock(mine...);
          return true;
        },
        this->of(index));
  }
  /// Whether the lock also refuses threads that do not hold it.
  bool lets_nobody_unlock() {
    if constexpr (requires { lock.unlock_shared_if_held(); }) {
      if (lock.unlock_shared_if_held()) return false;
    }
    return !tells || (!unlock(0) && !unlock(1));
  }
  static void body(told_test& me, unsigned index) {
    std::apply([&](auto&... mine) { me.lock.lock(mine...); }, me.of(index));
    if (!me.lock.is_held()) me.denied = true;
    if (!me.unlock(index)) me.denied = true;
    if constexpr (lockable_shared<Lock>) {
      me.lock.lock_shared();
      bool held = me.lock.is_held();
      if constexpr (requires { me.lock.unlock_shared_if_held(); }) {
        held = me.lock.unlock_shared_if_held() && held;
      } else {
        me.lock.unlock_shared();
      }
      if (held) return;
      me.lock.lock();
      me.denied = true;
      me.lock.unlock();
    }
  }
  const char* check() {
    if (denied) return "a lock that is held says that it is not";
    if (!lets_nobody_unlock()) return "a lock that nobody holds was unlocked";
    return lock.is_held() ? "a lock that nobody holds says that it is held" : nullptr;
  }
};

/// A second unlock is reported, whoever holds the lock meanwhile; for locks that know by the node whose turn it is.
template <class Lock>
struct twice_test {
  static constexpr unsigned sections = 2;

  Lock lock{};
  alignas(64) std::uint64_t count = 0;
  std::uint32_t inside = 0;
  bool met = false;
  bool denied = false;
  bool believed = false;

  static void body(twice_test& me, unsigned index) {
    typename Lock::node mine;
    if (me.lock.unlock_if_held(mine)) me.believed = true;
    for (unsigned i = 0; i < sections; ++i) {
      if ((index + i) % 2 == 0) {
        me.lock.lock(mine);
      } else {
        while (!me.lock.try_lock(mine)) {
          if (me.lock.unlock_if_held(mine)) me.believed = true;
          machine::relax();
        }
      }
      if (me.inside++ != 0) me.met = true;
      ++me.count;
      --me.inside;
      if (!me.lock.unlock_if_held(mine)) me.denied = true;
      if (me.lock.unlock_if_held(mine)) me.believed = true;
    }
  }
  /// No thread holds the lock. This is also reported for a node whose turn was ended by an unchecked unlock.
  bool lets_nobody_unlock() {
    typename Lock::node mine;
    lock.lock(mine);
    lock.unlock(mine);
    return !lock.unlock_if_held(mine);
  }
  const char* check() {
    if (met) return "two threads were in the section";
    if (!lets_nobody_unlock()) return "a lock that nobody holds was unlocked";
    if (believed) return "a node that had no turn has unlocked";
    if (denied) return "a lock that is held says that it is not";
    return count != std::uint64_t{3} * sections ? "an update was lost" : nullptr;
  }
};

/// The holder of every other section marks the lock, as for a sample.
class marking {
 public:
  struct slot {
    unsigned turn = 0;
  };
  void lock(slot& mine) noexcept {
    lock_.lock();
    if (mine.turn++ % 2 == 0) lock_.mark();
  }
  void unlock(slot&) noexcept { lock_.unlock(); }

 private:
  futex_mutex lock_;
};

constexpr const char* two = "exclusion, 2 threads x 3 sections";
constexpr const char* three = "exclusion, 3 threads x 2 sections";
constexpr unsigned all_cpus = 0;
constexpr unsigned sleeps = 1;   // CPUs on which a waiter sleeps at once
constexpr unsigned crowded = 2;  // CPUs on which a second waiter stays in the passive set

template <class Adapter>
constexpr exploration pair_of(const char* name, unsigned cpus = all_cpus) {
  return {name, two, verdict::right, exclusion_test<Adapter, 2, 3>::run, cpus};
}
template <class Adapter>
constexpr exploration trio_of(const char* name, unsigned cpus = all_cpus) {
  return {name, three, verdict::right, exclusion_test<Adapter, 3, 2>::run, cpus};
}
template <class Adapter>
constexpr exploration quartet_of(const char* name, unsigned cpus) {
  return {name, "exclusion, 4 threads x 2 sections", verdict::right, exclusion_test<Adapter, 4, 2>::run, cpus};
}

template <class Lock>
constexpr exploration told_of(const char* name) {
  return {name, "whether it is held, 2 threads", verdict::right, run_anew<told_test<Lock>, 2>};
}

template <class Lock>
constexpr exploration twice_of(const char* name, unsigned cpus = all_cpus) {
  return {name, "unlocking twice, 3 threads x 2 sections", verdict::right, run_anew<twice_test<Lock>, 3>, cpus};
}

constexpr exploration table[] = {
    pair_of<lockable<tatas_lock>>("tatas"),
    trio_of<lockable<tatas_lock>>("tatas-3"),
    trio_of<trying<tatas_lock>>("tatas-try"),
    trio_of<hurrying<tatas_lock>>("tatas-deadline"),
    told_of<tatas_lock>("tatas-told"),
    pair_of<lockable<ticket_lock>>("ticket"),
    trio_of<lockable<ticket_lock>>("ticket-3"),
    quartet_of<lockable<ticket_lock>>("ticket-crowded", crowded),
    trio_of<trying<ticket_lock>>("ticket-try"),
    told_of<ticket_lock>("ticket-told"),
    pair_of<lockable<fifo_ticket_lock>>("fifo_ticket"),
    trio_of<trying<fifo_ticket_lock>>("fifo_ticket-try"),
    told_of<fifo_ticket_lock>("fifo_ticket-told"),
    pair_of<with_node<mcs_lock>>("mcs"),
    trio_of<with_node<mcs_lock>>("mcs-3"),
    quartet_of<with_node<mcs_lock>>("mcs-crowded", crowded),
    trio_of<trying_with_node<mcs_lock>>("mcs-try"),
    told_of<mcs_lock>("mcs-told"),
    twice_of<mcs_lock>("mcs-twice"),
    twice_of<mcs_lock>("mcs-twice-crowded", crowded),
    pair_of<with_node<fifo_mcs_lock>>("fifo_mcs"),
    trio_of<trying_with_node<fifo_mcs_lock>>("fifo_mcs-try"),
    told_of<fifo_mcs_lock>("fifo_mcs-told"),
    twice_of<fifo_mcs_lock>("fifo_mcs-twice"),
    pair_of<lockable<futex_mutex>>("futex"),
    trio_of<lockable<futex_mutex>>("futex-3"),
    trio_of<lockable<futex_mutex>>("futex-sleeping", sleeps),
    trio_of<trying<futex_mutex>>("futex-try", sleeps),
    trio_of<hurrying<futex_mutex>>("futex-deadline", sleeps),
    pair_of<lockable<priority_tatas_lock>>("warm_priority-plain"),
    told_of<priority_tatas_lock>("warm_priority-told"),
    told_of<futex_mutex>("futex-told"),
    trio_of<marking>("futex-marked", sleeps),
    trio_of<lockable<spinning_mutex>>("spin", sleeps),
    trio_of<trying<spinning_mutex>>("spin-try", sleeps),
    trio_of<hurrying<spinning_mutex>>("spin-deadline", sleeps),
    told_of<spinning_mutex>("spin-told"),
    pair_of<lockable<mutex>>("txsync::mutex"),
    trio_of<lockable<mutex>>("txsync::mutex-sleeping", sleeps),
    trio_of<hurrying<mutex>>("txsync::mutex-deadline", sleeps),
    told_of<mutex>("txsync::mutex-told"),
    trio_of<lockable<by_policy<lock_policy::mutex>>>("policy_mutex", sleeps),
    trio_of<trying<by_policy<lock_policy::mutex>>>("policy_mutex-try", sleeps),
    trio_of<hurrying<by_policy<lock_policy::mutex>>>("policy_mutex-deadline", sleeps),
    told_of<by_policy<lock_policy::mutex>>("policy_mutex-told"),
    trio_of<lockable<by_policy<lock_policy::tatas>>>("policy_mutex-tatas"),
    trio_of<trying<by_policy<lock_policy::tatas>>>("policy_mutex-tatas-try"),
    trio_of<hurrying<by_policy<lock_policy::tatas>>>("policy_mutex-tatas-deadline"),
    told_of<by_policy<lock_policy::tatas>>("policy_mutex-tatas-told"),
    trio_of<lockable<by_policy<lock_policy::ticket>>>("policy_mutex-ticket"),
    quartet_of<lockable<by_policy<lock_policy::ticket>>>("policy_mutex-ticket-crowded", crowded),
    trio_of<trying<by_policy<lock_policy::ticket>>>("policy_mutex-ticket-try"),
    trio_of<hurrying<by_policy<lock_policy::ticket>>>("policy_mutex-ticket-deadline"),
    told_of<by_policy<lock_policy::ticket>>("policy_mutex-ticket-told"),
    trio_of<lockable<by_policy<lock_policy::fifo_ticket>>>("policy_mutex-fifo_ticket"),
    trio_of<hurrying<by_policy<lock_policy::fifo_ticket>>>("policy_mutex-fifo_ticket-deadline"),
    trio_of<lockable<by_policy<lock_policy::spin>>>("policy_mutex-spin", sleeps),
    trio_of<trying<by_policy<lock_policy::priority_tatas>>>("policy_mutex-priority_tatas-try"),
    trio_of<hurrying<by_policy<lock_policy::priority_tatas>>>("policy_mutex-priority_tatas-deadline"),
    told_of<by_policy<lock_policy::priority_tatas>>("policy_mutex-priority_tatas-told"),
    pair_of<lockable<posix_mutex>>("posix"),
    pair_of<lockable<srwlock>>("srwlock"),
    trio_of<trying<srwlock>>("srwlock-try"),
    told_of<srwlock>("srwlock-told"),
    pair_of<lockable<occ_rwlock>>("occ_rwlock"),
    trio_of<trying<occ_rwlock>>("occ_rwlock-try", sleeps),
    trio_of<hurrying<occ_rwlock>>("occ_rwlock-deadline", sleeps),
    told_of<occ_rwlock>("occ_rwlock-told"),
    pair_of<lockable<futex_rwlock>>("futex_rwlock"),
    trio_of<trying<futex_rwlock>>("futex_rwlock-try", sleeps),
    trio_of<hurrying<futex_rwlock>>("futex_rwlock-deadline", sleeps),
    told_of<futex_rwlock>("futex_rwlock-told"),
    pair_of<lockable<shared_mutex>>("txsync::shared_mutex"),
    trio_of<trying<shared_mutex>>("txsync::shared_mutex-try", sleeps),
    trio_of<hurrying<shared_mutex>>("txsync::shared_mutex-deadline", sleeps),
    told_of<shared_mutex>("txsync::shared_mutex-told"),
    pair_of<lockable<with_own_site<elided<tatas_lock>>>>("elided_tatas"),
    trio_of<lockable<with_own_site<elided<tatas_lock>>>>("elided_tatas-3"),
    trio_of<calling<lockable<with_own_site<elided<tatas_lock>>>>>("elided_tatas-calling"),
    pair_of<nested<with_own_site<elided<tatas_lock>>>>("elided_tatas-nested"),
    {"elided_tatas-inner-held", "sections of two locks, the inner one held by another thread", verdict::right,
     run_anew<inner_held_test<with_own_site<elided<tatas_lock>>, false>, 2>},
    {"elided_tatas-inner-tried", "the same, the inner one by tries", verdict::right,
     run_anew<inner_held_test<with_own_site<elided<tatas_lock>>, true>, 2>},
    trio_of<calling<lockable<with_own_site<elided<tatas_lock>, elision_presets::lemming>>>>("elided_tatas-hasty"),
    pair_of<lockable<by_prefix>>("elided-by-prefix"),
    trio_of<calling<lockable<by_prefix>>>("elided-by-prefix-calling"),
    {"elided_tatas-attempts", "sections of one thread are elided, and attempts end", verdict::right,
     run_anew<attempts_test<with_own_site<elided<tatas_lock>>>, 1>},
    pair_of<with_node<with_own_site<elided_with_node<mcs_lock>>>>("elided_mcs"),
    trio_of<calling<with_node<with_own_site<elided_with_node<mcs_lock>>>>>("elided_mcs-calling"),
    quartet_of<calling<with_node<with_own_site<elided_with_node<mcs_lock>>>>>("elided_mcs-crowded", crowded),
    trio_of<trying<with_own_site<elided<tatas_lock>>>>("elided_tatas-try"),
    {"elided_tatas-coarse", "exclusion, 2 threads x 6 sections", verdict::right,
     exclusion_test<lockable<with_own_site<elided<tatas_lock>, coarse>>, 2, 6>::run},
    {"elided_tatas-trial", "exclusion, 2 threads x 40 sections", verdict::right,
     exclusion_test<lockable<with_own_site<elided<tatas_lock>, restless>>, 2, 40>::run},
    trio_of<calling<lockable<with_own_site<elided<ticket_lock>>>>>("elided_ticket-calling"),
    quartet_of<calling<lockable<with_own_site<elided<ticket_lock>>>>>("elided_ticket-crowded", crowded),
    trio_of<calling<lockable<with_own_site<elided<fifo_ticket_lock>>>>>("elided_fifo_ticket-calling"),
    trio_of<calling<with_node<with_own_site<elided_with_node<fifo_mcs_lock>>>>>("elided_fifo_mcs-calling"),
    trio_of<trying_with_node<with_own_site<elided_with_node<mcs_lock>>>>("elided_mcs-try"),
    trio_of<calling<lockable<with_own_site<elided<posix_mutex_with_word>>>>>("elided_posix-calling"),
    trio_of<calling<lockable<with_own_site<elided<mutex>>>>>("elided_mutex-calling", sleeps),
    trio_of<hurrying<with_own_site<elided<mutex>>>>("elided_mutex-deadline", sleeps),
    trio_of<calling<hurrying<with_own_site<elided<mutex>>>>>("elided_mutex-deadline-calling", sleeps),
    trio_of<calling<lockable<with_own_site<elided<by_policy<lock_policy::mutex>>>>>>("elided_policy_mutex-calling",
                                                                                     sleeps),
    trio_of<calling<lockable<with_own_site<elided<by_policy<lock_policy::tatas>>>>>>(
        "elided_policy_mutex-tatas-calling"),
    trio_of<calling<lockable<with_own_site<elided<by_policy<lock_policy::ticket>>>>>>(
        "elided_policy_mutex-ticket-calling"),
    trio_of<calling<lockable<elided_by_policy<lock_policy::mutex>>>>("elided-policy_mutex-calling", sleeps),
    trio_of<calling<lockable<elided_by_policy<lock_policy::tatas>>>>("elided-policy_mutex-tatas-calling"),
    trio_of<calling<lockable<elided_by_policy<lock_policy::ticket>>>>("elided-policy_mutex-ticket-calling"),
    trio_of<trying<elided_by_policy<lock_policy::ticket>>>("elided-policy_mutex-ticket-try"),
    trio_of<calling<hurrying<elided_by_policy<lock_policy::mutex>>>>("elided-policy_mutex-deadline-calling", sleeps),
    {"elided-policy_mutex-attempts", "sections of one thread are elided, and attempts end", verdict::right,
     run_anew<attempts_test<elided_by_policy<lock_policy::mutex>>, 1>},
    pair_of<lockable<with_own_site<elided<futex_mutex>>>>("elided_futex"),
    trio_of<calling<lockable<with_own_site<elided<futex_mutex>>>>>("elided_futex-calling", sleeps),
};

}  // namespace

std::span<const exploration> lock_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations

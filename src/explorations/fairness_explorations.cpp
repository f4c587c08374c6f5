// SPDX-License-Identifier: Apache-2.0
// How often others bypass a waiter: threads that never wait (they call try_lock() in a loop) against threads that do. A
// section counts as a quarter of the turns after which a lock checks its waiters, so that few sections reach the bound.
// Either deadlines never pass, or they pass at once: the bound holds in both cases.
#include <atomic>

#include <txsync/condition_variable.hpp>
#include <txsync/locks/concurrency_limiter.hpp>
#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/futex_rwlock.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/spinning_mutex.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/mutex.hpp>
#include <txsync/shared_mutex.hpp>

#include "explorations/exploration.hpp"
#include "explorations/policy_locks.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {

constexpr unsigned sections_a_wrap = 4;
constexpr std::uint32_t turns_a_section = 4'096;

/// The bound on other threads' sections from when a waiter is in line until its own section, with `waiters` waiters.
constexpr unsigned bound_of(unsigned waiters) {
  constexpr std::uint64_t turns_a_wrap = std::uint64_t{sections_a_wrap} * turns_a_section;
  return static_cast<unsigned>(futex_mutex::bypass_bound(waiters) / turns_a_wrap * sections_a_wrap + waiters);
}

constexpr detail::patience patience_of(bool impatient) {
  return impatient ? detail::patience::none : detail::patience::brief;
}

/// The first threads wait once each. The others take the lock as long as a thread waits or is still to come, and count.
template <class Lock, unsigned waiters, bool impatient>
struct passed_by_test {
  static constexpr unsigned max_sections = 3 * bound_of(waiters);

  Lock lock{};
  std::atomic<unsigned> left{waiters};
  unsigned passed = 0;  // guarded by the lock: in a row, while a thread waits
  unsigned worst = 0;

  passed_by_test() { detail::wait_with(patience_of(impatient)); }
  ~passed_by_test() { detail::wait_with(detail::patience::usual); }

  static void body(passed_by_test& me, unsigned index) {
    if (index < waiters) {
      me.lock.lock();
      me.left.fetch_sub(1);
      me.passed = 0;
      return me.lock.unlock();
    }
    for (unsigned i = 0; i < max_sections && me.left.load() != 0; ++i) {
      while (!me.lock.try_lock()) machine::relax();
      me.passed = me.lock.is_waited_for() ? me.passed + 1 : 0;
      if (me.passed > me.worst) me.worst = me.passed;
      me.lock.count_more_turns(turns_a_section - 1);
      me.lock.unlock();
    }
  }
  const char* check() const { return worst > bound_of(1) ? "waiters were passed by more often than stated" : nullptr; }
};

/// The holder hands the lock over by unlock_fair(): no thread bypasses a waiter.
template <class Lock>
struct fair_test {
  Lock lock{};
  std::atomic<bool> came{false};
  unsigned passed = 0;
  bool waited = false;

  fair_test() { detail::wait_with(detail::patience::brief); }
  ~fair_test() { detail::wait_with(detail::patience::usual); }

  static void body(fair_test& me, unsigned index) {
    if (index == 0) {
      me.lock.lock();
      me.came.store(true);
      return me.lock.unlock();
    }
    constexpr unsigned max_sections = 40;
    for (unsigned i = 0; i < max_sections && !me.came.load(); ++i) {
      while (!me.lock.try_lock()) machine::relax();
      if (me.waited && !me.came.load()) ++me.passed;
      me.waited = !me.came.load() && me.lock.is_waited_for();
      me.lock.unlock_fair();
    }
  }
  const char* check() const { return passed != 0 ? "a waiter was passed by in a hand-over" : nullptr; }
};

/// Seeded fault: nothing is handed over.
template <class Lock>
class without_hand_over : public Lock {
 public:
  void unlock_fair() noexcept { this->unlock(); }
};

/// A thread that is notified waits for the mutex like any other.
template <bool impatient, class Lock = mutex>
struct notified_test {
  Lock lock{};
  condition_variable changed{};
  std::atomic<bool> over{false};
  bool told = false;
  unsigned passed = 0;
  unsigned worst = 0;

  notified_test() { detail::wait_with(patience_of(impatient)); }
  ~notified_test() { detail::wait_with(detail::patience::usual); }

  static void body(notified_test& me, unsigned index) {
    if (index == 0) {
      std::unique_lock<mutex> held(me.lock);
      while (!me.told) me.changed.wait(held);
      me.over.store(true);
      return;
    }
    for (unsigned i = 0; i < 3 * bound_of(1) && !me.over.load(); ++i) {
      while (!me.lock.try_lock()) machine::relax();
      me.passed = me.lock.is_waited_for() ? me.passed + 1 : 0;
      if (me.passed > me.worst) me.worst = me.passed;
      if (!me.told) {
        me.told = true;
        me.changed.notify_one();
      }
      me.lock.count_more_turns(turns_a_section - 1);
      me.lock.unlock();
    }
  }
  const char* check() const {
    if (worst > bound_of(1)) return "a notified thread was passed by more often than stated";
    return told ? nullptr : "no thread was notified";
  }
};

/// Some of its waiters have far deadlines: the first, and each `nth` one after it.
template <unsigned nth>
class with_deadlines : public futex_mutex {
 public:
  void lock() noexcept {
    constexpr std::uint64_t long_time_ns = 1'000'000'000'000;
    if (calls_.fetch_add(1) % nth != 0) return futex_mutex::lock();
    while (!try_lock_until_ns(machine::clock_ns() + long_time_ns)) {
    }
  }

 private:
  std::atomic<unsigned> calls_{0};
};

/// Seeded fault: turns are not counted and no deadline passes, so no unlock hands the lock over.
template <class Lock>
class without_turns : public Lock {
 public:
  void count_more_turns(std::uint32_t) noexcept {}
};

/// How threads wait for a futex_rwlock.
enum class comes : std::uint8_t { to_read, to_write };
/// The same with the rule that keeps readers out while a writer sleeps.
class writers_first : public futex_rwlock {
 public:
  void lock_shared() noexcept { futex_rwlock::lock_shared(admit::after_writers); }
};

/// Threads wait once each, readers before writers, and are past their deadlines: at once, or when the time leaps. The
/// last thread writes repeatedly, never waits, and stays inside until a sleeper is overdue. Sleepers that are overdue
/// during one of its sections are inside before its next one: all readers, and one writer after a reader.
template <class Lock, unsigned readers, unsigned writers, bool impatient>
struct overdue_sleepers_test {
  static constexpr unsigned waiters = readers + writers;
  static constexpr unsigned max_sections = 40;
  static constexpr unsigned max_looks = 40;

  Lock lock{};
  std::atomic<bool> is_held{false};
  std::atomic<unsigned> came[2] = {0, 0};
  unsigned expected[2] = {0, 0};   // guarded by the lock, like the next two
  unsigned before_the_writer = 0;  // readers that must be inside first
  bool passed = false;

  overdue_sleepers_test() { detail::wait_with(patience_of(impatient)); }
  ~overdue_sleepers_test() { detail::wait_with(detail::patience::usual); }

  // Bits of the lock's word.
  static constexpr std::uint64_t overdue(comes how) noexcept {
    return std::uint64_t{1} << (how == comes::to_read ? 56 : 57);
  }
  unsigned asleep(comes how) const noexcept {
    const std::uint64_t seen = reinterpret_cast<const std::atomic<std::uint64_t>&>(lock).load();
    return (seen & overdue(how)) != 0 ? static_cast<unsigned>(seen >> (how == comes::to_read ? 32 : 44) & 0xFFF) : 0;
  }
  bool is_any_overdue() const noexcept { return asleep(comes::to_read) + asleep(comes::to_write) != 0; }
  void look(comes how, unsigned served_at_once) noexcept {
    const auto kind = static_cast<unsigned>(how);
    if (came[kind].load() < expected[kind]) passed = true;
    const unsigned sleepers = asleep(how);
    expected[kind] = came[kind].load() + (sleepers < served_at_once ? sleepers : served_at_once);
  }
  void write_again(bool is_first) noexcept {
    while (!lock.try_lock()) machine::relax();
    is_held.store(true);
    for (unsigned looks = 0; (is_first || looks < max_looks) && !is_any_overdue(); ++looks) machine::relax();
    look(comes::to_read, readers);
    look(comes::to_write, 1);
    before_the_writer = came[0].load() < expected[0] ? came[0].load() + 1 : 0;
    lock.unlock();
  }
  static void body(overdue_sleepers_test& me, unsigned index) {
    while (index < waiters && !me.is_held.load()) machine::relax();
    if (index < readers) {
      me.lock.lock_shared();
      me.came[0].fetch_add(1);
      return me.lock.unlock_shared();
    }
    if (index < waiters) {
      me.lock.lock();
      if (me.came[0].load() < me.before_the_writer) me.passed = true;
      me.came[1].fetch_add(1);
      return me.lock.unlock();
    }
    for (unsigned i = 0; i < max_sections && me.came[0].load() + me.came[1].load() != waiters; ++i) {
      me.write_again(i == 0);
    }
  }
  const char* check() const {
    if (passed) return "a sleeper that was overdue was passed by";
    return lock.is_held() ? "the lock is not free at the end" : nullptr;
  }
};

/// A writer hands over to two readers, which stay inside until both are, even if a writer sleeps.
template <class Lock>
struct phase_test {
  static constexpr std::uint64_t all_overdue = std::uint64_t{3} << 56 | std::uint64_t{2} << 32 | std::uint64_t{1} << 44;

  Lock lock{};
  std::atomic<bool> is_held{false};
  std::atomic<unsigned> inside{0};

  phase_test() { detail::wait_with(detail::patience::none); }
  ~phase_test() { detail::wait_with(detail::patience::usual); }

  static void body(phase_test& me, unsigned index) {
    while (index != 0 && !me.is_held.load()) machine::relax();
    if (index < 2) {
      me.lock.lock();
      if (index == 0) {
        me.is_held.store(true);
        const auto& word = reinterpret_cast<const std::atomic<std::uint64_t>&>(me.lock);
        while ((word.load() & all_overdue) != all_overdue) machine::relax();
      }
      return me.lock.unlock();
    }
    me.lock.lock_shared();
    me.inside.fetch_add(1);
    while (me.inside.load() != 2) machine::relax();
    me.lock.unlock_shared();
  }
  const char* check() const { return lock.is_held() ? "the lock is not free at the end" : nullptr; }
};

/// Seeded fault: a writer that leaves hands nothing over.
template <class Lock>
class never_overdue : public Lock {
 public:
  void unlock() noexcept {
    constexpr std::uint64_t overdue = std::uint64_t{3} << 56;
    reinterpret_cast<std::atomic<std::uint64_t>&>(*this).fetch_and(~overdue);
    Lock::unlock();
  }
};

/// The parts of fair locks, so that a test can inspect the concurrency limiter (`limiter`). With `checks`, unlocked as
/// by unlock_if_held().
template <bool checks>
struct ticket_parts {
  struct slot {};
  detail::ticket_queue queue{};
  concurrency_limiter limiter{};

  void lock(slot&) noexcept { detail::limited_ticket(queue, limiter).lock(); }
  void unlock(slot&) noexcept {
    detail::limited_ticket both(queue, limiter);
    if (!checks || !both.unlock_if_alone()) both.unlock();
  }
  std::uint32_t active() const noexcept { return queue.active(); }
  bool busy() const noexcept { return limiter.busy(); }
};
template <bool checks>
struct mcs_parts {
  using slot = mcs_lock::node;
  mcs_lock whole{};

  void lock(slot& mine) noexcept { whole.lock(mine); }
  void unlock(slot& mine) noexcept {
    if (!checks) return whole.unlock(mine);
    whole.unlock_if_held(mine);
  }
  // A queue, followed by a concurrency limiter.
  static_assert(sizeof(mcs_lock) == sizeof(detail::mcs_queue) + sizeof(concurrency_limiter));
  std::uint32_t active() const noexcept { return reinterpret_cast<const detail::mcs_queue*>(&whole)->active(); }
  bool busy() const noexcept {
    return reinterpret_cast<const concurrency_limiter*>(reinterpret_cast<const detail::mcs_queue*>(&whole) + 1)->busy();
  }
};

struct policy_parts {
  struct slot {};
  by_policy<lock_policy::ticket> whole{};

  void lock(slot&) noexcept { whole.lock(); }
  void unlock(slot&) noexcept { whole.unlock(); }
  std::uint32_t active() const noexcept { return queue_of(whole).active(); }
  bool busy() noexcept { return reinterpret_cast<const concurrency_limiter*>(limiter_of(whole))->busy(); }
};

/// One thread comes to a crowded lock and waits once; the others take the lock repeatedly. Its concurrency limiter lets
/// a thread in after few acquisitions. They are counted from when the thread is visibly in the passive set.
///
/// Seeded fault, with `calls` false: the limiter has its usual patience, which no test exhausts. So no thread is let
/// in, and the limiter never closes.
template <class Parts, unsigned threads, bool calls = true>
struct limiter_test {
  static constexpr std::uint32_t patience = 2;
  static constexpr unsigned bound = threads * (2 * patience + threads);
  static constexpr unsigned max_sections = 2 * bound;

  Parts lock{};
  std::atomic<bool> is_held{false};
  std::atomic<bool> is_crowded{false};
  std::atomic<bool> has_come{false};
  std::atomic<bool> over{false};
  unsigned sections = 0;  // guarded by the lock, like the next one
  unsigned passed = 0;

  limiter_test() { detail::lower_patience(calls ? patience : 0); }
  ~limiter_test() { detail::lower_patience(0); }

  /// Returns as the holder, with another thread in the queue and the waiter in the passive set.
  void let_come(typename Parts::slot& mine) noexcept {
    lock.lock(mine);
    is_held.store(true);
    while (lock.active() < 2) machine::relax();
    is_crowded.store(true);
    while (!lock.busy()) machine::relax();
    sections = 0;
    has_come.store(true);
  }
  static void body(limiter_test& me, unsigned index) {
    typename Parts::slot mine;
    if (index == 0) {
      while (!me.is_crowded.load()) machine::relax();
      me.lock.lock(mine);
      me.passed = me.sections;
      me.over.store(true);
      return me.lock.unlock(mine);
    }
    if (index == 1) {
      me.let_come(mine);
    } else {
      while (!(index == 2 ? me.is_held : me.has_come).load()) machine::relax();
      me.lock.lock(mine);
    }
    for (unsigned i = 0; i < max_sections && !me.over.load(); ++i) {
      ++me.sections;
      me.lock.unlock(mine);
      me.lock.lock(mine);
    }
    me.lock.unlock(mine);
  }
  const char* check() const { return passed > bound ? "a waiter was passed by more often than stated" : nullptr; }
};

/// One thread is in the queue and one in the passive set when a policy_mutex is unlocked, which calls the second in.
struct called_in_test {
  by_policy<lock_policy::ticket> lock{};
  std::atomic<bool> is_held{false};
  std::atomic<bool> is_crowded{false};
  bool forgotten = false;

  called_in_test() { detail::lower_patience(1); }
  ~called_in_test() { detail::lower_patience(0); }

  std::uint32_t number(unsigned which) noexcept {
    return reinterpret_cast<const std::atomic<std::uint32_t>*>(limiter_of(lock))[which].load();
  }
  static void body(called_in_test& me, unsigned index) {
    if (index != 0) {
      while (!(index == 1 ? me.is_held : me.is_crowded).load()) machine::relax();
      me.lock.lock();
      return me.lock.unlock();
    }
    me.lock.lock();
    me.is_held.store(true);
    while (queue_of(me.lock).active() < 2) machine::relax();
    me.is_crowded.store(true);
    while (me.number(0) == 0) machine::relax();
    me.lock.unlock();
    if (me.number(1) == 0) me.forgotten = true;
  }
  const char* check() const { return forgotten ? "nobody was called in" : nullptr; }
};

/// All are in the passive set when the lock is released, and no thread comes back: each is let in by the one before.
struct drain_test {
  ticket_lock lock{};
  unsigned count = 0;

  static void body(drain_test& me, unsigned) {
    me.lock.lock();
    ++me.count;
    machine::yield();
    me.lock.unlock();
  }
  const char* check() const { return count != 4 ? "an update was lost" : nullptr; }
};

constexpr unsigned crowded = 2;
constexpr auto right = verdict::right;
constexpr unsigned sleeps = 1;

template <class Lock, unsigned readers, unsigned writers, bool impatient, verdict expected = right>
constexpr exploration overdue_at(const char* name, const char* summary) {
  return {name, summary, expected,
          run_anew<overdue_sleepers_test<Lock, readers, writers, impatient>, readers + writers + 1>, sleeps};
}

constexpr exploration table[] = {
    {"futex-passed-by", "one waits, one never does", right, run_anew<passed_by_test<futex_mutex, 1, false>, 2>},
    {"futex-passed-by-3", "one waits, two never do", right, run_anew<passed_by_test<futex_mutex, 1, false>, 3>},
    {"futex-passed-by-sleeping", "two wait, one never does", right, run_anew<passed_by_test<futex_mutex, 2, false>, 3>,
     sleeps},
    {"futex-overdue", "one waits and is overdue, one never waits", right,
     run_anew<passed_by_test<futex_mutex, 1, true>, 2>},
    {"futex-overdue-3", "two wait and are overdue, one never waits", right,
     run_anew<passed_by_test<futex_mutex, 2, true>, 3>, sleeps},
    {"futex-pressing", "one waits with a deadline and is due, one never waits", right,
     run_anew<passed_by_test<with_deadlines<1>, 1, true>, 2>},
    {"futex-pressing-beside-line", "the same, one of them is in line", right,
     run_anew<passed_by_test<with_deadlines<2>, 2, true>, 3>, sleeps},
    {"futex-pressing-beside-line-4", "three wait, one of them with a deadline, one never waits", right,
     run_anew<passed_by_test<with_deadlines<3>, 3, true>, 4>, sleeps},
    {"seeded:futex-passed-by", "the same where nothing is handed over", verdict::broken,
     run_anew<passed_by_test<without_turns<futex_mutex>, 1, false>, 2>},
    {"futex-fair", "handed over by unlock_fair()", right, run_anew<fair_test<futex_mutex>, 2>, sleeps},
    {"seeded:futex-fair", "the same where it hands nothing over", verdict::broken,
     run_anew<fair_test<without_hand_over<futex_mutex>>, 2>, sleeps},
    {"txsync::mutex-passed-by", "one waits, one never does", right, run_anew<passed_by_test<mutex, 1, false>, 2>,
     sleeps},
    {"txsync::mutex-overdue", "two wait and are overdue, one never waits", right,
     run_anew<passed_by_test<mutex, 2, true>, 3>},
    {"txsync::mutex-fair", "handed over by unlock_fair()", right, run_anew<fair_test<mutex>, 2>},
    {"txsync::shared_mutex-fair", "a writer hands over by unlock_fair()", right, run_anew<fair_test<shared_mutex>, 2>},
    {"seeded:txsync::mutex-fair", "the same where it hands nothing over", verdict::broken,
     run_anew<fair_test<without_hand_over<mutex>>, 2>},
    {"seeded:txsync::shared_mutex-fair", "the same where it hands nothing over", verdict::broken,
     run_anew<fair_test<without_hand_over<shared_mutex>>, 2>},
    {"spin-passed-by", "one waits, one never does", right, run_anew<passed_by_test<spinning_mutex, 1, false>, 2>},
    {"spin-overdue", "two wait and are overdue, one never waits", right,
     run_anew<passed_by_test<spinning_mutex, 2, true>, 3>, sleeps},
    {"ticket-passed-by", "one waits, two take it again and again", right,
     run_anew<limiter_test<ticket_parts<false>, 3>, 3>, crowded},
    {"seeded:ticket-passed-by", "the same where nobody is called in", verdict::broken,
     run_anew<limiter_test<ticket_parts<false>, 3, false>, 3>, crowded},
    {"ticket-passed-by-4", "one waits, three take it again and again", right,
     run_anew<limiter_test<ticket_parts<false>, 4>, 4>, crowded},
    {"mcs-passed-by", "one waits, two take it again and again", right, run_anew<limiter_test<mcs_parts<false>, 3>, 3>,
     crowded},
    {"ticket-passed-by-checked", "unlocked by unlock_if_held()", right,
     run_anew<limiter_test<ticket_parts<true>, 3>, 3>, crowded},
    {"mcs-passed-by-checked", "unlocked by unlock_if_held()", right, run_anew<limiter_test<mcs_parts<true>, 3>, 3>,
     crowded},
    {"policy_mutex-ticket-passed-by", "one waits, two take it again and again", right,
     run_anew<limiter_test<policy_parts, 3>, 3>, crowded},
    {"policy_mutex-ticket-called-in", "one is passive when a mutex by policy is unlocked", right,
     run_anew<called_in_test, 3>, crowded},
    {"ticket-drain", "four come once", right, run_anew<drain_test, 4>, crowded},
    overdue_at<futex_rwlock, 1, 0, true>("futex_rwlock-overdue-reader", "a reader is overdue, a writer never waits"),
    overdue_at<futex_rwlock, 2, 0, true>("futex_rwlock-overdue-readers", "the same, two readers"),
    overdue_at<futex_rwlock, 0, 1, true>("futex_rwlock-overdue-writer", "a writer is overdue, another never waits"),
    overdue_at<futex_rwlock, 0, 2, true>("futex_rwlock-overdue-writers", "the same, two are overdue"),
    overdue_at<futex_rwlock, 1, 1, true>("futex_rwlock-overdue-both", "one of each is overdue"),
    overdue_at<futex_rwlock, 1, 1, false>("futex_rwlock-overdue-later", "their deadlines pass"),
    overdue_at<futex_rwlock, 2, 1, false>("futex_rwlock-overdue-later-4", "the same, two readers"),
    overdue_at<writers_first, 1, 1, true>("futex_rwlock-overdue-after-writers", "where readers wait for writers"),
    overdue_at<writers_first, 2, 1, false>("futex_rwlock-overdue-after-writers-4", "the same, their deadlines pass"),
    {"futex_rwlock-handed", "to two readers that are overdue, as is a writer", right,
     run_anew<phase_test<futex_rwlock>, 4>, sleeps},
    {"futex_rwlock-handed-after-writers", "the same where readers wait for writers", right,
     run_anew<phase_test<writers_first>, 4>, sleeps},
    overdue_at<never_overdue<futex_rwlock>, 1, 0, true, verdict::broken>("seeded:futex_rwlock-overdue-reader",
                                                                         "the same where nothing is handed over"),
    overdue_at<never_overdue<futex_rwlock>, 0, 1, true, verdict::broken>("seeded:futex_rwlock-overdue-writer",
                                                                         "the same where nothing is handed over"),
    {"condition_variable-passed-by", "a notified thread, and one that never waits", right,
     run_anew<notified_test<false>, 2>},
    {"seeded:condition_variable-passed-by", "the same where nothing is handed over", verdict::broken,
     run_anew<notified_test<false, without_turns<mutex>>, 2>},
    {"condition_variable-overdue", "a notified thread that is overdue, and one that never waits", right,
     run_anew<notified_test<true>, 2>, sleeps},
};

}  // namespace

std::span<const exploration> fairness_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations

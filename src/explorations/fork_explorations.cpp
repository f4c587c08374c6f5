// SPDX-License-Identifier: Apache-2.0
// Locks with queues in the child of a fork. The forking thread holds the lock, and threads of the parent, which do not
// exist in the child, wait for it. Their traces are written into the lock as the fork leaves them.
#include <txsync_backend/runtime.h>
#include <cstddef>
#include <cstring>
#include <mutex>

#include <txsync/condition_variable.hpp>
#include <txsync/locks/concurrency_limiter.hpp>
#include <txsync/locks/futex_rwlock.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/srwlock.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/mutex.hpp>
#include <txsync/shared_mutex.hpp>

#include "explorations/exploration.hpp"
#include "explorations/policy_locks.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {

template <class Value>
void write_at(void* lock, std::size_t offset, Value value) noexcept {
  *reinterpret_cast<volatile Value*>(static_cast<std::byte*>(lock) + offset) = value;
}

/// A node in the memory of a thread that does not exist; no thread may write there.
using mcs_node = fifo_mcs_lock::node;

/// The second and third ticket are drawn.
void add_parents(fifo_ticket_lock& lock, mcs_node&) noexcept {
  constexpr std::uint32_t second = detail::ticket_queue::ticket_after(0);
  write_at(&lock, 0, detail::ticket_queue::ticket_after(detail::ticket_queue::ticket_after(second)));
}
/// Two are in the passive set, and one of them is called.
void add_parents_outside(void* limiter) noexcept {
  write_at<std::uint32_t>(limiter, 0, 2);
  write_at<std::uint32_t>(limiter, 4, 1);
  write_at<std::uint8_t>(limiter, 8, 1);
  write_at<std::uint8_t>(limiter, 9, 1);
}
void add_parents(ticket_lock& lock, mcs_node& gone) noexcept {
  add_parents(reinterpret_cast<fifo_ticket_lock&>(lock), gone);
  add_parents_outside(&reinterpret_cast<fifo_ticket_lock*>(&lock)[1]);
}
void add_parents(policy_mutex& lock, mcs_node& gone) noexcept {
  add_parents(reinterpret_cast<fifo_ticket_lock&>(lock), gone);
  add_parents_outside(limiter_of(lock));
}
/// One thread of the parent is ready.
void add_parents(by_policy<lock_policy::priority_tatas>& lock, mcs_node&) noexcept {
  write_at<std::uint32_t>(&lock, 4, 1);
}
/// One thread has joined the queue; the holder's node does not link to it yet.
void add_parents(fifo_mcs_lock& lock, mcs_node& gone) noexcept {
  write_at(&lock, 0, &gone);
  write_at<std::uint32_t>(&lock, sizeof(void*), 1);
}
void add_parents(mcs_lock& lock, mcs_node& gone) noexcept {
  add_parents(reinterpret_cast<fifo_mcs_lock&>(lock), gone);
  add_parents_outside(&reinterpret_cast<fifo_mcs_lock*>(&lock)[1]);
}
/// With a thread of the parent that was called in and has not come; newcomers were kept out meanwhile.
template <class Lock>
class closed_for_one : public Lock {};
template <class Lock>
void add_parents(closed_for_one<Lock>& lock, mcs_node&) noexcept {
  std::byte* const limiter = reinterpret_cast<std::byte*>(&lock) + sizeof(lock) - sizeof(concurrency_limiter);
  write_at<std::uint32_t>(limiter, 0, 1);
  write_at<std::uint32_t>(limiter, 4, 1);
  write_at<std::uint8_t>(limiter, 8, 1);
  write_at<std::uint8_t>(limiter, 9, 1);
}
/// One thread is the first of the queue, and keeps others out.
void add_parents(srwlock& lock, mcs_node& gone) noexcept {
  write_at<std::uint32_t>(&lock, 0, 3);
  add_parents(*reinterpret_cast<fifo_mcs_lock*>(reinterpret_cast<std::byte*>(&lock) + sizeof(lock) - sizeof(mcs_lock)),
              gone);
}

// Bits of futex_rwlock's word, in which three overdue threads of the parent sleep.
constexpr std::uint64_t rwlock_writer = std::uint64_t{1} << 31;
constexpr std::uint64_t rwlock_sleepers = std::uint64_t{2} << 32 | std::uint64_t{1} << 44;
constexpr std::uint64_t rwlock_overdue = std::uint64_t{3} << 56;
constexpr std::uint64_t rwlock_given_to_readers = std::uint64_t{1} << 58;
constexpr std::uint64_t rwlock_given_to_writer = std::uint64_t{1} << 59;
/// They wait for the writer inside.
void add_parents(futex_rwlock& lock, mcs_node&) noexcept {
  write_at(&lock, 0, rwlock_writer | rwlock_sleepers | rwlock_overdue);
}

/// Two readers wait for the writer inside.
void add_parents(shared_mutex& lock, mcs_node&) noexcept {
  write_at(&lock, 0, std::uint64_t{1} << 62 | std::uint64_t{2} << 32);
}

/// While it exists, the program is the child of a fork.
struct child_of_fork {
  child_of_fork() noexcept { txsync_sim_show_forks(1); }
  ~child_of_fork() { txsync_sim_show_forks(0); }
};

template <class Lock>
struct turn_at {
  void take(Lock& lock) noexcept { lock.lock(); }
  void give_up(Lock& lock) noexcept { lock.unlock(); }
};
template <class Lock>
  requires requires { typename Lock::node; }
struct turn_at<Lock> {
  typename Lock::node mine{};
  void take(Lock& lock) noexcept { lock.lock(mine); }
  void give_up(Lock& lock) noexcept { lock.unlock(mine); }
};

/// In the child of a fork: the thread holds the lock, and the parent's threads wait for it.
template <class Lock>
struct held_at_fork {
  Lock lock{};
  turn_at<Lock> first{};
  mcs_node gone{};

  held_at_fork() {
    first.take(lock);
    txsync_sim_show_forks(1);
    add_parents(lock, gone);
  }
  ~held_at_fork() { txsync_sim_show_forks(0); }
};

template <class Lock>
struct forked_queue_test : held_at_fork<Lock> {
  using held_at_fork<Lock>::lock;
  using held_at_fork<Lock>::gone;
  static constexpr unsigned sections = 2;

  unsigned inside = 1;
  bool met = false;

  static void body(forked_queue_test& me, unsigned index) {
    if (index == 0) {
      --me.inside;
      me.first.give_up(me.lock);
    }
    for (unsigned i = 0; i < sections; ++i) {
      turn_at<Lock> mine{};
      mine.take(me.lock);
      if (me.inside++ != 0) me.met = true;
      machine::yield();
      --me.inside;
      mine.give_up(me.lock);
    }
  }
  const char* check() const {
    if (met) return "two threads were in the section";
    if constexpr (requires { typename Lock::node; }) {
      // Which process the queue is made for. Otherwise threads only try, in no order.
      std::uint32_t made_for;
      std::memcpy(&made_for, reinterpret_cast<const std::byte*>(&lock) + 12, sizeof made_for);
      if (made_for != 1) return "the queue was not made for the child";
    }
    if (gone.next.load() != &gone || gone.waiting.load()) return "memory of a thread that is gone was written";
    return lock.is_held() ? "the lock is not free at the end" : nullptr;
  }
};

/// In the child of a fork, whose parent's threads wait in the queue: once the lock is given up, it is free to be tried.
template <class Lock, bool shared>
struct forked_try_test : held_at_fork<Lock> {
  bool got = false;

  static void body(forked_try_test& me, unsigned) {
    me.lock.unlock();
    if constexpr (shared) {
      me.got = me.lock.try_lock_shared() && me.lock.try_lock_shared();
    } else {
      me.got = me.lock.try_lock() && !me.lock.try_lock();
    }
  }
  const char* check() const { return got ? nullptr : "a free lock was not acquired, or a held one was"; }
};

/// The lock is not held at the fork.
template <class Lock>
struct forked_free_test {
  child_of_fork here{};
  closed_for_one<Lock> lock{};
  unsigned inside = 0;
  bool met = false;

  forked_free_test() noexcept {
    mcs_node none{};
    add_parents(lock, none);
  }
  static void body(forked_free_test& me, unsigned) {
    turn_at<Lock> mine{};
    mine.take(me.lock);
    if (me.inside++ != 0) me.met = true;
    machine::yield();
    --me.inside;
    mine.give_up(me.lock);
  }
  const char* check() const {
    if (met) return "two threads were in the section";
    return lock.is_held() ? "the lock is not free at the end" : nullptr;
  }
};

/// In a child's child, one thread has a far deadline. In the child the lock was used, too.
template <std::uint32_t word>
struct forked_twice_test {
  by_policy<word> lock{};
  unsigned inside = 0;
  bool met = false;

  forked_twice_test() noexcept {
    lock.lock();
    txsync_sim_show_forks(1);
    lock.unlock();
    lock.lock();
    lock.unlock();
    txsync_sim_show_forks(2);
  }
  ~forked_twice_test() { txsync_sim_show_forks(0); }

  static void body(forked_twice_test& me, unsigned index) {
    constexpr std::uint64_t long_time_ns = 1'000'000'000'000;
    if (index != 0) {
      me.lock.lock();
    } else if (!me.lock.try_lock_until_ns(machine::clock_ns() + long_time_ns)) {
      me.met = true;
      return;
    }
    if (me.inside++ != 0) me.met = true;
    machine::yield();
    --me.inside;
    me.lock.unlock();
  }
  const char* check() const {
    if (met) return "two threads were in the section, or one gave up";
    return lock.is_held() ? "the lock is not free at the end" : nullptr;
  }
};

/// In the child of a fork, the parent's threads sleep at the lock. If there was a reader inside, it is the first
/// thread. Then the threads read, where readers wait for sleeping writers, and write.
template <std::uint64_t word>
struct forked_rwlock_test {
  static constexpr bool had_reader = (word & 1) != 0;

  child_of_fork here{};
  futex_rwlock lock{};
  unsigned value = 0;
  bool inside = false;
  bool met = false;

  forked_rwlock_test() noexcept { write_at(&lock, 0, word); }

  static void body(forked_rwlock_test& me, unsigned index) {
    if (index == 0 && had_reader) me.lock.unlock_shared();
    me.lock.lock_shared(futex_rwlock::admit::after_writers);
    if (me.inside) me.met = true;
    me.lock.unlock_shared();
    me.lock.lock();
    me.inside = true;
    ++me.value;
    machine::yield();
    me.inside = false;
    me.lock.unlock();
  }
  const char* check() const {
    if (met) return "a reader met a writer in its section";
    if (value != 2) return "an update was lost";
    return lock.is_held() ? "the lock is not free at the end" : nullptr;
  }
};

/// Two threads of the parent wait at the condition, and one of them has been notified.
struct forked_condition_test {
  child_of_fork here{};
  mutex guard{};
  bool told = false;
  condition_variable condition{};

  forked_condition_test() noexcept { write_at<std::uint64_t>(&condition, 0, std::uint64_t{1} << 16 | 2); }

  static void body(forked_condition_test& me, unsigned index) {
    std::unique_lock hold(me.guard);
    if (index == 0) {
      me.condition.wait(hold, [&me]() noexcept { return me.told; });
    } else {
      me.told = true;
      me.condition.notify_one();
    }
  }
  const char* check() const { return nullptr; }  // the test is that the destructor ends
};
struct forked_condition_alone_test : forked_condition_test {
  static void body(forked_condition_alone_test& me, unsigned) { forked_condition_test::body(me, 1); }
};

template <class Lock, unsigned threads>
constexpr exploration forked_queue(const char* name, const char* summary, unsigned cpus = 0) {
  return {name, summary, verdict::right, run_anew<forked_queue_test<Lock>, threads>, cpus};
}

constexpr exploration table[] = {
    forked_queue<fifo_ticket_lock, 1>("fifo_ticket-forked-alone", "in a child, two of the parent wait, one thread"),
    forked_queue<fifo_ticket_lock, 2>("fifo_ticket-forked", "the same, two threads"),
    forked_queue<fifo_ticket_lock, 3>("fifo_ticket-forked-3", "the same, three threads"),
    forked_queue<ticket_lock, 3>("ticket-forked", "in a child, two of the parent wait inside and two outside"),
    forked_queue<ticket_lock, 3>("ticket-forked-door", "the same, and there is a CPU for one", 1),
    forked_queue<by_policy<lock_policy::ticket>, 1>("policy_mutex-ticket-forked-alone", "the same, one thread"),
    forked_queue<by_policy<lock_policy::ticket>, 3>("policy_mutex-ticket-forked", "the same, three threads"),
    forked_queue<by_policy<lock_policy::ticket>, 3>("policy_mutex-ticket-forked-door", "with a CPU for one", 1),
    forked_queue<by_policy<lock_policy::fifo_ticket>, 3>("policy_mutex-fifo_ticket-forked", "three threads"),
    forked_queue<by_policy<lock_policy::priority_tatas>, 3>("policy_mutex-priority_tatas-forked",
                                                            "in a child, one of the parent is ready"),
    forked_queue<fifo_mcs_lock, 1>("fifo_mcs-forked-alone", "in a child, one of the parent waits, one thread"),
    forked_queue<fifo_mcs_lock, 2>("fifo_mcs-forked", "the same, two threads"),
    forked_queue<fifo_mcs_lock, 3>("fifo_mcs-forked-3", "the same, three threads"),
    forked_queue<mcs_lock, 3>("mcs-forked", "in a child, one of the parent waits inside and two outside"),
    forked_queue<mcs_lock, 3>("mcs-forked-door", "the same, and there is a CPU for one", 1),
    forked_queue<closed_for_one<ticket_lock>, 2>("ticket-forked-called", "in a child, one of the parent was called in"),
    {"ticket-forked-free", "the same, not held", verdict::right, run_anew<forked_free_test<ticket_lock>, 2>},
    {"mcs-forked-free", "the same, not held", verdict::right, run_anew<forked_free_test<mcs_lock>, 2>},
    {"policy_mutex-ticket-forked-deadline", "in a child's child, three threads, one with a deadline", verdict::right,
     run_anew<forked_twice_test<lock_policy::ticket>, 3>},
    forked_queue<srwlock, 1>("srwlock-forked-alone", "in a child, one of the parent is the first in line, one thread"),
    forked_queue<srwlock, 3>("srwlock-forked", "the same, three threads"),
    {"srwlock-forked-try", "one thread, which tries", verdict::right, run_anew<forked_try_test<srwlock, false>, 1>},
    {"srwlock-forked-try-shared", "the same, shared", verdict::right, run_anew<forked_try_test<srwlock, true>, 1>},
    forked_queue<futex_rwlock, 1>("futex_rwlock-forked-alone",
                                  "in a child, three of the parent are overdue, one thread"),
    forked_queue<futex_rwlock, 3>("futex_rwlock-forked", "the same, three threads", 1),
    {"futex_rwlock-forked-shared", "the same, held shared", verdict::right,
     run_anew<forked_rwlock_test<1 | rwlock_sleepers | rwlock_overdue>, 2>, 1},
    {"futex_rwlock-forked-free", "the same, not held", verdict::right,
     run_anew<forked_rwlock_test<rwlock_sleepers | rwlock_overdue>, 2>, 1},
    {"futex_rwlock-forked-given", "the same, given to a writer that is gone", verdict::right,
     run_anew<forked_rwlock_test<rwlock_writer | rwlock_given_to_writer | rwlock_sleepers | rwlock_overdue>, 2>, 1},
    {"futex_rwlock-forked-given-to-readers", "the same, given to readers", verdict::right,
     run_anew<forked_rwlock_test<rwlock_writer | rwlock_given_to_readers | rwlock_sleepers | rwlock_overdue>, 2>, 1},
    forked_queue<shared_mutex, 2>("txsync::shared_mutex-forked", "in a child, two of the parent wait to read"),
    {"condition_variable-forked", "in a child, three of the parent are there, two threads", verdict::right,
     run_anew<forked_condition_test, 2>},
    {"condition_variable-forked-alone", "the same, one that notifies", verdict::right,
     run_anew<forked_condition_alone_test, 1>},
};

}  // namespace

std::span<const exploration> fork_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations

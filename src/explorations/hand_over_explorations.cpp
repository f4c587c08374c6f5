// SPDX-License-Identifier: Apache-2.0
// What holds for a registered waiter: the holder waits for the registration before it releases the lock. Then a missing
// hand-over lets another thread in first. A missing wake-up leaves a sleeping thread, because no deadline wakes it.
// Other tests say that the program is the child of a fork, whose parent had waiters.
#include <atomic>
#include <cstdint>

#include <txsync_backend/runtime.h>
#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/spinning_mutex.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/mutex.hpp>

#include "explorations/exploration.hpp"
#include "locks/sleeping_places.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {

// The word as in futex_mutex.hpp. If a bit here is wrong, a test that waits for it does not end.
constexpr std::uint64_t held = 1;
constexpr std::uint64_t line = std::uint64_t{1} << 50;
constexpr std::uint64_t head = std::uint64_t{1} << 51;
constexpr std::uint64_t sleeping = std::uint64_t{1} << 52;
constexpr std::uint64_t overdue = std::uint64_t{1} << 53;
constexpr std::uint64_t given_to_head = std::uint64_t{1} << 54;
constexpr std::uint64_t given_to_aside = std::uint64_t{1} << 55;
constexpr std::uint64_t urgent = std::uint64_t{1} << 56;
constexpr std::uint64_t aside = std::uint64_t{1} << 58;
constexpr std::uint64_t numbers(std::uint64_t granted, std::uint64_t drawn) { return granted << 16 | drawn << 29; }

/// Whether the word that is the lock's first member has this bit.
template <class Lock>
bool has_bit(const Lock& lock, std::uint64_t bit) noexcept {
  return (*reinterpret_cast<const volatile std::uint64_t*>(&lock) & bit) != 0;
}

/// What the holder waits for, and how it releases the lock.
enum class due : std::uint8_t {
  at_once,      ///< waiters are past their deadlines when they come
  later,        ///< the deadline of the waiter passes
  by_fairness,  ///< unlock_fair()
  urgently,     ///< the waiter has a real-time priority
  never         ///< the waiter sleeps until the lock is released
};

/// The first thread waits while the second holds the lock; further threads wait as well. If the lock is handed over, no
/// thread gets it in between.
template <class Lock, due when>
struct registered_test {
  Lock lock{};
  std::atomic<bool> is_held{false};
  std::atomic<bool> came{false};
  bool taken = false;

  registered_test() {
    detail::wait_with(when == due::at_once ? detail::patience::none : detail::patience::brief);
    txsync_sim_wait_for_ever(when == due::at_once || when == due::never);
  }
  ~registered_test() {
    detail::wait_with(detail::patience::usual);
    txsync_sim_wait_for_ever(0);
  }

  bool is_registered() const noexcept {
    if (when == due::at_once || when == due::later) return has_bit(lock, overdue);
    if (when == due::urgently) return has_bit(lock, urgent);
    return when == due::never ? has_bit(lock, sleeping) : lock.is_waited_for();
  }
  void give_up() noexcept {
    if (when == due::by_fairness) return lock.unlock_fair();
    lock.unlock();
  }
  static void body(registered_test& me, unsigned index) {
    if (index == 1) {
      me.lock.lock();
      me.is_held.store(true);
      while (!me.is_registered()) machine::relax();
      me.give_up();
      if (when == due::never || !me.lock.try_lock()) return;
      if (!me.came.load()) me.taken = true;
      return me.lock.unlock();
    }
    while (!me.is_held.load()) machine::relax();
    if (when == due::urgently && index == 0) txsync_sim_show_realtime(1);
    me.lock.lock();
    me.came.store(true);
    me.give_up();
  }
  const char* check() const {
    if (taken) return "a lock that was handed over was taken by another thread";
    return lock.is_held() || lock.is_waited_for() ? "the lock is not free at the end" : nullptr;
  }
};

/// A waiter with a real-time priority gives up and does not return, while others wait in line.
struct urgent_patience_test {
  futex_mutex lock{};
  std::atomic<bool> is_held{false};
  unsigned count = 0;

  static void body(urgent_patience_test& me, unsigned index) {
    if (index != 1)
      while (!me.is_held.load()) machine::relax();
    if (index == 0) {
      txsync_sim_show_realtime(1);
      if (me.lock.try_lock_until_ns(machine::clock_ns() + 2'000)) me.lock.unlock();
      return;
    }
    me.lock.lock();
    me.is_held.store(true);
    if (index == 1) machine::yield();
    ++me.count;
    me.lock.unlock();
  }
  const char* check() const {
    if (lock.is_held() || lock.is_waited_for()) return "the lock is not free at the end";
    return count != 2 ? "an update was lost" : nullptr;
  }
};

/// A real-time thread and one with a deadline wait aside. Once the first has the lock, no waiter is urgent any more.
struct urgent_leaves_test {
  futex_mutex lock{};
  std::atomic<bool> is_held{false};
  bool stays_urgent = false;
  unsigned count = 0;

  urgent_leaves_test() { txsync_sim_wait_for_ever(1); }
  ~urgent_leaves_test() { txsync_sim_wait_for_ever(0); }

  static void body(urgent_leaves_test& me, unsigned index) {
    if (index == 0) {
      me.lock.lock();
      me.is_held.store(true);
      while (!has_bit(me.lock, 2 * aside)) machine::relax();
      return me.lock.unlock();
    }
    while (!me.is_held.load()) machine::relax();
    if (index == 1) txsync_sim_show_realtime(1);
    constexpr std::uint64_t long_time_ns = 1'000'000'000;
    const bool got =
        index == 1 ? (me.lock.lock(), true) : me.lock.try_lock_until_ns(machine::clock_ns() + long_time_ns);
    if (!got) return;
    if (index == 1) me.stays_urgent = has_bit(me.lock, urgent);
    ++me.count;
    me.lock.unlock();
  }
  const char* check() const {
    if (stays_urgent) return "a lock that no real-time thread waits for is handed over as if one did";
    return count != 2 ? "an update was lost" : nullptr;
  }
};

/// Sections of a real-time thread and of another one, whose sections are so long that the real-time thread stops
/// spinning.
template <class Lock>
struct urgent_pair_test {
  Lock lock{};
  unsigned count = 0;

  static void body(urgent_pair_test& me, unsigned index) {
    if (index == 0) txsync_sim_show_realtime(1);
    for (unsigned i = 0; i < 2; ++i) {
      me.lock.lock();
      constexpr std::uint64_t long_section = 60'000;
      for (const std::uint64_t start = machine::cycles(); index != 0 && machine::cycles() - start < long_section;) {
        machine::relax();
      }
      ++me.count;
      me.lock.unlock();
    }
  }
  const char* check() const { return count != 4 ? "an update was lost" : nullptr; }
};

/// In the child of a fork: the parent left `word`, and its waiters do not exist here. With `hurries`, the first thread
/// has a deadline.
template <std::uint64_t word, bool hurries = false>
struct forked_test {
  futex_mutex lock{};
  unsigned inside = 0;
  unsigned count = 0;
  bool met = false;
  bool late = false;

  forked_test() {
    txsync_sim_show_forks(1);
    *reinterpret_cast<volatile std::uint64_t*>(&lock) = word;
  }
  ~forked_test() { txsync_sim_show_forks(0); }

  static void body(forked_test& me, unsigned index) {
    if (hurries && index == 0) {
      // Longer than all checks for dead threads together, between which the time leaps.
      constexpr std::uint64_t long_time_ns = 1'000'000'000'000;
      if (!me.lock.try_lock_until_ns(machine::clock_ns() + long_time_ns)) {
        me.late = true;
        return;
      }
    } else {
      me.lock.lock();
    }
    if (me.inside++ != 0) me.met = true;
    machine::yield();
    --me.inside;
    ++me.count;
    me.lock.unlock();
  }
  const char* check() const {
    if (met) return "two threads were in the section";
    if (late) return "a thread gave up before its deadline";
    return lock.is_held() ? "the lock is not free at the end" : nullptr;
  }
};

/// Two threads change what a third one waits for: no wake-up is lost.
struct sleeping_place_test {
  static constexpr unsigned all = 4;

  detail::sleeping_place place{};
  std::atomic<unsigned> changes{0};

  static void body(sleeping_place_test& me, unsigned index) {
    if (index == 0) {
      for (;;) {
        const std::uint32_t ticket = me.place.ticket();
        if (me.changes.load() == all) return;
        me.place.sleep(ticket, machine::no_deadline);
      }
    }
    const unsigned mine = index == 1 ? 1 : all - 1;
    for (unsigned i = 0; i < mine; ++i) {
      me.changes.fetch_add(1);
      me.place.wake();
    }
  }
  const char* check() const { return changes.load() != all ? "an update was lost" : nullptr; }
};

/// A place counts the waiters of this process. The parent's one waiter does not count.
struct counted_place_test {
  detail::sleeping_place place{};
  std::atomic<bool> wrong{false};

  counted_place_test() {
    place.enter();
    txsync_sim_show_forks(1);
    if (place.is_in_use()) wrong.store(true);
  }
  ~counted_place_test() { txsync_sim_show_forks(0); }

  static void body(counted_place_test& me, unsigned) {
    me.place.enter();
    if (!me.place.is_in_use()) me.wrong.store(true);
    me.place.leave();
  }
  const char* check() const {
    if (wrong.load()) return "a place is in use for the parent's waiters, or not for those of this process";
    return place.is_in_use() ? "a place is in use that all threads have left" : nullptr;
  }
};

constexpr unsigned sleeps = 1;
constexpr auto right = verdict::right;

template <class Lock, due when, unsigned threads>
constexpr exploration registered(const char* name, const char* summary, unsigned cpus = 0) {
  return {name, summary, right, run_anew<registered_test<Lock, when>, threads>, cpus};
}
template <std::uint64_t word, bool hurries = false, unsigned threads = 2>
constexpr exploration forked(const char* name, const char* summary) {
  return {name, summary, right, run_anew<forked_test<word, hurries>, threads>, sleeps};
}

constexpr exploration table[] = {
    registered<futex_mutex, due::at_once, 2>("futex-handed", "to a waiter that is overdue"),
    registered<futex_mutex, due::at_once, 3>("futex-handed-3", "to one that is overdue, and another is in line",
                                             sleeps),
    registered<futex_mutex, due::later, 2>("futex-handed-late", "to one whose deadline passes", sleeps),
    registered<futex_mutex, due::by_fairness, 3>("futex-handed-fair", "by unlock_fair()", sleeps),
    registered<futex_mutex, due::urgently, 2>("futex-urgent", "to a real-time thread"),
    registered<futex_mutex, due::urgently, 3>("futex-urgent-3", "to a real-time thread, and another is in line",
                                              sleeps),
    registered<futex_mutex, due::never, 2>("futex-woken", "one sleeps until the lock is given up", sleeps),
    registered<spinning_mutex, due::at_once, 2>("spin-handed", "to a waiter that is overdue"),
    registered<spinning_mutex, due::never, 2>("spin-woken", "one sleeps until the lock is given up"),
    registered<mutex, due::at_once, 2>("txsync::mutex-handed", "to a waiter that is overdue"),
    registered<mutex, due::by_fairness, 2>("txsync::mutex-handed-fair", "by unlock_fair()", sleeps),
    {"futex-urgent-patience", "a real-time thread gives up, two do not", right, run_anew<urgent_patience_test, 3>,
     sleeps},
    {"futex-urgent-leaves", "a real-time thread gets it, one with a deadline waits on", right,
     run_anew<urgent_leaves_test, 3>},
    {"ticket-urgent", "a real-time thread waits for long sections", right,
     run_anew<urgent_pair_test<fifo_ticket_lock>, 2>},
    forked<0, false, 3>("futex-forked", "in a child without waiters of the parent"),
    forked<0, true, 3>("futex-forked-deadline", "the same, one has a deadline"),
    forked<numbers(2, 2) | held | head | given_to_head>("futex-forked-handed", "handed to one that is gone"),
    forked<numbers(2, 2) | held | head | given_to_head, true>("futex-forked-handed-deadline",
                                                              "the same, one has a deadline"),
    forked<numbers(2, 3) | held | head | line | given_to_head>("futex-forked-line", "and another that is gone"),
    forked<numbers(2, 3) | head | line>("futex-forked-free", "free, and all in line are gone"),
    forked<held | aside | urgent | given_to_aside>("futex-forked-urgent", "handed to a real-time thread that is gone"),
    forked<held | aside | urgent | given_to_aside, false, 1>("futex-forked-alone", "the same, one thread"),
    forked<held | aside | given_to_aside, true>("futex-forked-aside", "the same, one has a deadline"),
    forked<numbers(1, 2) | held | line | aside | given_to_aside>("futex-forked-aside-line", "and another in line"),
    {"sleeping_place", "two wake one", right, run_anew<sleeping_place_test, 3>},
    {"sleeping_place-counted", "three come and go, in a child", right, run_anew<counted_place_test, 3>},
};

}  // namespace

std::span<const exploration> hand_over_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations

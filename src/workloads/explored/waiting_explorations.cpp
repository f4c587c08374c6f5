// SPDX-License-Identifier: Apache-2.0
// Condition variables, barriers, and the end of a lock's life.
#include <atomic>
#include <cstring>
#include <mutex>

#include <txsync/barrier.hpp>
#include <txsync/condition_variable.hpp>
#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/futex_rwlock.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/mutex.hpp>

#include "workloads/explored/exploration.hpp"

namespace txsync::inline TXSYNC_BACKEND::workloads {

namespace {

enum class telling : std::uint8_t { one, all };

/// A place for one thing: thread 0 puts, the others take. With several takers a notification may meet the wrong one, so
/// that all are told.
template <unsigned threads, unsigned takes, telling how>
struct handing_test {
  mutex lock{};
  condition_variable changed{};
  bool full = false;
  std::uint64_t taken = 0;

  void tell() noexcept { how == telling::one ? changed.notify_one() : changed.notify_all(); }
  void change(bool to) {
    std::unique_lock held(lock);
    changed.wait(held, [&] { return full != to; });
    full = to;
    if (!to) ++taken;
    tell();
  }
  static void body(handing_test& me, unsigned index) {
    const unsigned changes = index == 0 ? takes * (threads - 1) : takes;
    for (unsigned i = 0; i < changes; ++i) me.change(index == 0);
  }
  const char* check() const { return taken != std::uint64_t{takes} * (threads - 1) ? "a hand-over was lost" : nullptr; }
};

/// Waiters whose patience ends, one that waits for good, and a notification for each.
struct deadline_test {
  mutex lock{};
  condition_variable changed{};
  unsigned posted = 0;

  static void body(deadline_test& me, unsigned index) {
    std::unique_lock held(me.lock);
    if (index == 0) {
      me.posted += 2;
      me.changed.notify_one();
      me.changed.notify_one();
      return;
    }
    while (me.posted == 0) {
      constexpr std::uint64_t patience_ns = 100;
      me.changed.wait_until_ns(held, index == 1 ? machine::clock_ns() + patience_ns : machine::no_deadline);
    }
    --me.posted;
  }
  const char* check() const { return posted != 0 ? "a post was not taken" : nullptr; }
};

/// Waits with a lock of another kind.
struct foreign_lock_test {
  tatas_lock lock{};
  condition_variable changed{};
  bool told = false;

  static void body(foreign_lock_test& me, unsigned index) {
    const std::unique_lock held(me.lock);
    if (index == 0) {
      me.told = true;
      return me.changed.notify_all();
    }
    while (!me.told) me.changed.wait_with(me.lock);
  }
  const char* check() const { return told ? nullptr : "nobody was told"; }
};

constexpr unsigned char poison = 0xA5;

/// A place whose thing is destroyed while threads may still be about to leave it: nobody may touch it afterwards.
template <class Thing>
struct mortal {
  alignas(Thing) unsigned char bytes[sizeof(Thing)];
  mortal() { new (bytes) Thing; }
  Thing& operator*() noexcept { return *reinterpret_cast<Thing*>(bytes); }
  void destroy() noexcept {
    (**this).~Thing();
    for (unsigned char& byte : bytes) byte = poison;
  }
  bool is_untouched() const noexcept {
    for (const unsigned char byte : bytes) {
      if (byte != poison) return false;
    }
    return true;
  }
};

/// The notifier destroys the variable as soon as it has told all.
template <unsigned threads>
struct destroyed_variable_test {
  mutex lock{};
  mortal<condition_variable> changed{};
  unsigned waiting = 0;
  bool told = false;

  static void body(destroyed_variable_test& me, unsigned index) {
    std::unique_lock held(me.lock);
    if (index != 0) {
      ++me.waiting;
      while (!me.told) (*me.changed).wait(held);
      return;
    }
    while (me.waiting != threads - 1) {
      held.unlock();
      machine::relax();
      held.lock();
    }
    me.told = true;
    (*me.changed).notify_all();
    held.unlock();
    me.changed.destroy();
  }
  const char* check() const { return changed.is_untouched() ? nullptr : "a destroyed condition variable was written"; }
};

/// The last owner destroys the lock right after it has given it up.
template <class Lock, unsigned threads>
struct destroyed_lock_test {
  mortal<Lock> lock{};
  unsigned left = threads;

  static void body(destroyed_lock_test& me, unsigned) {
    (*me.lock).lock();
    const bool last = --me.left == 0;
    (*me.lock).unlock();
    if (last) me.lock.destroy();
  }
  const char* check() const { return lock.is_untouched() ? nullptr : "a destroyed lock was written"; }
};

template <unsigned threads, unsigned phases>
struct barrier_test {
  barrier door{threads};
  std::uint32_t arrived[threads] = {};
  std::uint32_t lasts[threads] = {};
  bool early = false;

  static void body(barrier_test& me, unsigned index) {
    for (unsigned phase = 1; phase <= phases; ++phase) {
      me.arrived[index] = phase;
      if (me.door.arrive_and_wait()) ++me.lasts[index];
      for (const std::uint32_t one : me.arrived) me.early = me.early || one < phase;
    }
  }
  const char* check() const {
    std::uint32_t sum = 0;
    for (const std::uint32_t one : lasts) sum += one;
    if (early) return "a thread passed the barrier before all had arrived";
    return sum != phases ? "not exactly one thread was the last of a phase" : nullptr;
  }
};

constexpr unsigned sleeps = 1;
constexpr auto right = verdict::right;

constexpr exploration table[] = {
    {"condition_variable", "one puts, one takes", right, run_anew<handing_test<2, 3, telling::one>, 2>},
    {"condition_variable-sleeping", "one puts, one takes, told that there is one CPU", right,
     run_anew<handing_test<2, 3, telling::one>, 2>, sleeps},
    {"condition_variable-3", "one puts, two take, all are told", right, run_anew<handing_test<3, 2, telling::all>, 3>},
    {"condition_variable-deadline", "one waits with deadlines, one without", right, run_anew<deadline_test, 3>},
    {"condition_variable-any", "with a lock of another kind", right, run_anew<foreign_lock_test, 3>},
    {"condition_variable-destroyed", "destroyed by who has told all", right, run_anew<destroyed_variable_test<3>, 3>},
    {"barrier", "2 threads x 3 phases", right, run_anew<barrier_test<2, 3>, 2>},
    {"barrier-3", "3 threads x 2 phases", right, run_anew<barrier_test<3, 2>, 3>},
    {"barrier-sleeping", "3 threads x 2 phases, told that there is one CPU", right, run_anew<barrier_test<3, 2>, 3>,
     sleeps},
    {"futex-destroyed", "destroyed by its last owner", right, run_anew<destroyed_lock_test<futex_mutex, 3>, 3>, sleeps},
    {"txsync::mutex-destroyed", "destroyed by its last owner", right, run_anew<destroyed_lock_test<mutex, 2>, 2>},
    {"futex_rwlock-destroyed", "destroyed by its last owner", right, run_anew<destroyed_lock_test<futex_rwlock, 3>, 3>,
     sleeps},
};

}  // namespace

std::span<const exploration> waiting_explorations() noexcept { return table; }

}  // namespace txsync::inline TXSYNC_BACKEND::workloads

// SPDX-License-Identifier: Apache-2.0
// Small tests in which every schedule is a test of its own. `txsync explore` runs them repeatedly on the simulated
// machine, each time in another order of execution.
#pragma once

#include <cstdint>
#include <new>
#include <span>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/thread.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

/// What exploring has to find.
enum class verdict : std::uint8_t {
  right,                          ///< nothing, ever
  broken,                         ///< the seeded fault
  broken_with_store_buffers,      ///< the seeded fault with store buffers, and nothing without
  broken_with_late_subscription,  ///< the seeded fault if the machine watches an attempt's first read too late
};

/// One test. run() sets everything up, runs the threads, and returns null or what was wrong. It may leave nothing
/// behind for the next schedule.
struct exploration {
  const char* name;
  const char* summary;
  verdict expected;
  const char* (*run)();
  /// How many CPUs the program is told of, so that waiters sleep early or the concurrency limiter closes. 0: all.
  unsigned cpus = 0;
};

std::span<const exploration> lock_explorations() noexcept;             ///< lock_explorations.cpp
std::span<const exploration> fairness_explorations() noexcept;         ///< fairness_explorations.cpp
std::span<const exploration> hand_over_explorations() noexcept;        ///< hand_over_explorations.cpp
std::span<const exploration> left_ticket_explorations() noexcept;      ///< left_ticket_explorations.cpp
std::span<const exploration> fork_explorations() noexcept;             ///< fork_explorations.cpp
std::span<const exploration> sharing_explorations() noexcept;          ///< sharing_explorations.cpp
std::span<const exploration> eliding_explorations() noexcept;          ///< eliding_explorations.cpp
std::span<const exploration> waiting_explorations() noexcept;          ///< waiting_explorations.cpp
std::span<const exploration> waiter_limit_explorations() noexcept;     ///< waiter_limit_explorations.cpp
std::span<const exploration> phase_explorations() noexcept;            ///< phase_explorations.cpp
std::span<const exploration> warming_explorations() noexcept;          ///< warming_explorations.cpp
std::span<const exploration> mutex_explorations() noexcept;            ///< mutex_explorations.cpp
std::span<const exploration> elided_mutex_explorations() noexcept;     ///< elided_mutex_explorations.cpp
std::span<const exploration> rwlock_explorations() noexcept;           ///< rwlock_explorations.cpp
std::span<const exploration> condition_explorations() noexcept;        ///< condition_explorations.cpp
std::span<const exploration> tm_explorations() noexcept;               ///< tm_explorations.cpp
std::span<const exploration> tm_sharing_explorations() noexcept;       ///< tm_sharing_explorations.cpp
std::span<const exploration> tm_waiting_explorations() noexcept;       ///< tm_waiting_explorations.cpp
std::span<const exploration> tm_announcing_explorations() noexcept;    ///< tm_announcing_explorations.cpp
std::span<const exploration> tm_container_explorations() noexcept;     ///< tm_container_explorations.cpp
std::span<const exploration> tm_long_explorations() noexcept;          ///< tm_long_explorations.cpp
std::span<const exploration> tm_slots_explorations() noexcept;         ///< tm_slots_explorations.cpp
std::span<const exploration> tm_pages_explorations() noexcept;         ///< tm_pages_explorations.cpp
std::span<const exploration> tm_pages_seeded_explorations() noexcept;  ///< tm_pages_seeded_explorations.cpp
std::span<const exploration> tm_seeded_explorations() noexcept;        ///< tm_seeded_explorations.cpp
std::span<const exploration> first_use_explorations() noexcept;        ///< first_use_explorations.cpp
std::span<const exploration> seeded_explorations() noexcept;           ///< seeded_explorations.cpp
std::span<const exploration> litmus_explorations() noexcept;           ///< litmus_explorations.cpp

/// Runs body(state, index) in `count` threads and waits for them.
template <class State, unsigned count>
void in_threads(State& state, void (*body)(State& state, unsigned index)) {
  struct start {
    State* state;
    void (*body)(State& state, unsigned index);
    unsigned index;
  };
  start starts[count];
  machine::thread threads[count];
  for (unsigned i = 0; i < count; ++i) {
    starts[i] = {&state, body, i};
    const auto entry = [](void* raw) {
      const start& mine = *static_cast<start*>(raw);
      mine.body(*mine.state, mine.index);
    };
    if (!threads[i].start(entry, &starts[i])) __builtin_trap();
  }
  for (machine::thread& one : threads) one.join();
}

/// Makes a new test, runs its threads and returns the result of check().
template <class Test, unsigned count>
const char* run_anew() {
  alignas(Test) static unsigned char place[sizeof(Test)];
  auto& made = *new (place) Test;
  in_threads<Test, count>(made, Test::body);
  const char* fault = made.check();
  made.~Test();
  return fault;
}

/// Sections of one lock; each checks whether it is alone.
template <class Adapter, unsigned threads, unsigned sections>
struct exclusion_test {
  Adapter lock{};
  alignas(64) std::uint64_t count = 0;  // not on the lock's line, which would warn a thread that does not watch it
  std::uint32_t inside = 0;
  bool met = false;

  static void body(exclusion_test& me, unsigned) {
    typename Adapter::slot mine;
    for (unsigned i = 0; i < sections; ++i) {
      me.lock.lock(mine);
      if (me.inside != 0) me.met = true;
      me.inside = 1;
      ++me.count;
      me.inside = 0;
      me.lock.unlock(mine);
    }
  }

  const char* check() const {
    if (met) return "two threads were in the section";
    return count != std::uint64_t{threads} * sections ? "an update was lost" : nullptr;
  }
  static const char* run() { return run_anew<exclusion_test, threads>(); }
};

/// Every other section is entered by try_lock().
template <class Lock>
class trying {
 public:
  struct slot {
    unsigned turn = 0;
  };
  void lock(slot& mine) noexcept {
    if (mine.turn++ % 2 == 0) return lock_.lock();
    while (!lock_.try_lock()) machine::relax();
  }
  void unlock(slot&) noexcept { lock_.unlock(); }

 private:
  Lock lock_;
};

/// The same for locks with nodes.
template <class Lock>
class trying_with_node {
 public:
  struct slot {
    typename Lock::node node;
    unsigned turn = 0;
  };
  void lock(slot& mine) noexcept {
    if (mine.turn++ % 2 == 0) return lock_.lock(mine.node);
    while (!lock_.try_lock(mine.node)) machine::relax();
  }
  void unlock(slot& mine) noexcept { lock_.unlock(mine.node); }

 private:
  Lock lock_;
};

/// Tries until it succeeds, each time with the same short deadline.
template <class Try>
void hurry(Try try_until) noexcept {
  constexpr std::uint64_t patience_ns = 100;
  while (!try_until(machine::clock_ns() + patience_ns)) machine::yield();
}

/// Every other section is entered with a deadline that mostly passes before the lock is acquired.
template <class Lock>
class hurrying {
 public:
  struct slot {
    unsigned turn = 0;
  };
  void lock(slot& mine) noexcept {
    if (mine.turn++ % 2 != 0) return lock_.lock();
    hurry([&](std::uint64_t until) noexcept { return lock_.try_lock_until_ns(until); });
  }
  void unlock(slot&) noexcept { lock_.unlock(); }

 private:
  Lock lock_;
};

/// Every other section makes a system call, which aborts attempts. So sections with and without the lock run together.
template <class Adapter>
class calling {
 public:
  struct slot {
    typename Adapter::slot inner;
    unsigned turn = 0;
  };
  void lock(slot& mine) noexcept {
    const bool calls = mine.turn++ % 2 == 0;
    lock_.lock(mine.inner);
    if (calls) machine::yield();
  }
  void unlock(slot& mine) noexcept { lock_.unlock(mine.inner); }

 private:
  Adapter lock_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations

// SPDX-License-Identifier: Apache-2.0
// Locks that are wrong on purpose, one way each. The suite has to find every one of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include <txsync/machine/park.hpp>
#include <txsync/machine/thread.hpp>

#include "harness/promises.hpp"

namespace broken {

namespace machine = txsync::machine;

/// Lets everybody in.
struct no_lock {
  void lock() {}
  bool try_lock() { return true; }
  void unlock() {}
};

/// Looks, and then takes, in two steps.
class look_then_take {
 public:
  void lock() {
    while (!try_lock()) machine::yield();
  }
  bool try_lock() {
    if (held_.load() != 0) return false;
    machine::yield();
    held_.store(1);
    return true;
  }
  void unlock() { held_.store(0); }

 private:
  std::atomic<std::uint32_t> held_{0};
};

/// A right lock, for others to spoil.
class right_lock {
 public:
  void lock() {
    while (held_.exchange(1) != 0) machine::yield();
  }
  bool try_lock() { return held_.exchange(1) == 0; }
  void unlock() { held_.store(0); }

 protected:
  std::atomic<std::uint32_t> held_{0};
};

/// try_lock() says yes once in a while, held or not.
class sometimes_lies : public right_lock {
 public:
  bool try_lock() { return right_lock::try_lock() || ++tries_ % 4 == 0; }

 private:
  std::atomic<unsigned> tries_{0};
};

struct never_tries : right_lock {
  bool try_lock() { return false; }
};

struct try_waits : right_lock {
  bool try_lock() {
    lock();
    return true;
  }
};

/// Its tries spoil the lock for those who wait: a failing try leaves the word free.
struct try_frees : right_lock {
  bool try_lock() {
    if (held_.exchange(1) == 0) return true;
    held_.store(0);
    return false;
  }
};

/// Waiters sleep, and nobody wakes them.
class nobody_wakes {
 public:
  void lock() {
    while (held_.exchange(1) != 0) machine::park(held_, 1);
  }
  bool try_lock() { return held_.exchange(1) == 0; }
  void unlock() { held_.store(0); }

 private:
  std::atomic<std::uint32_t> held_{0};
};

/// The classic one: 2 is "held and waited for", and who was woken takes the lock as 1, which forgets the other
/// sleepers.
class forgets_the_second {
 public:
  void lock() {
    std::uint32_t expected = 0;
    while (!state_.compare_exchange_strong(expected, 1)) {
      if (expected == 2 || state_.compare_exchange_strong(expected, 2)) machine::park(state_, 2);
      expected = 0;
    }
  }
  bool try_lock() {
    std::uint32_t expected = 0;
    return state_.compare_exchange_strong(expected, 1);
  }
  void unlock() {
    if (state_.exchange(0) == 2) machine::unpark(state_, 1);
  }

 private:
  std::atomic<std::uint32_t> state_{0};
};

/// unlock() looks for waiters before it frees the lock: one that comes between the two sleeps for ever.
class wakes_too_early {
 public:
  void lock() {
    while (held_.exchange(1) != 0) {
      ++sleepers_;
      machine::park(held_, 1);
      --sleepers_;
    }
  }
  bool try_lock() { return held_.exchange(1) == 0; }
  void unlock() {
    if (sleepers_ != 0) machine::unpark(held_, 1);
    machine::sleep_ns(3'000'000);
    held_.store(0);
  }

 private:
  std::atomic<std::uint32_t> held_{0};
  std::atomic<std::uint32_t> sleepers_{0};
};

/// Touches itself after it has been given up.
class looks_back {
 public:
  void lock() {
    while (held_.exchange(1) != 0) machine::yield();
  }
  bool try_lock() { return held_.exchange(1) == 0; }
  void unlock() {
    held_.store(0);
    machine::sleep_ns(200'000);
    ++given_up_;
  }

 private:
  std::atomic<std::uint32_t> held_{0};
  std::atomic<std::uint32_t> given_up_{0};
};

/// Draws numbers like a ticket lock, and serves the last one first.
class last_come_first_served {
 public:
  void lock() {
    const std::uint64_t mine = arrivals_.fetch_add(1) + 1;
    {
      const std::lock_guard guard(inner_);
      waiting_.push_back(mine);
      if (!held_) call();
    }
    while (served_.load() != mine) machine::yield();
  }
  bool try_lock() {
    const std::lock_guard guard(inner_);
    if (held_) return false;
    held_ = true;
    served_ = ++arrivals_;
    return true;
  }
  void unlock() {
    const std::lock_guard guard(inner_);
    held_ = false;
    if (!waiting_.empty()) call();
  }

 private:
  void call() {
    held_ = true;
    served_ = waiting_.back();
    waiting_.pop_back();
  }

  std::atomic<std::uint64_t> arrivals_{0};  // first, where the suite looks for arrivals
  std::atomic<std::uint64_t> served_{0};
  std::mutex inner_;
  std::vector<std::uint64_t> waiting_;
  bool held_ = false;
};

}  // namespace broken

namespace conformance {

/// They promise what most locks do.
template <class Lock>
struct promises : usual_promises {
  static constexpr const char* name = "broken";
};

}  // namespace conformance

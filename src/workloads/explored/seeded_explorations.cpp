// SPDX-License-Identifier: Apache-2.0
// Locks with a fault each, of the kinds that people make: exploring has to find every one of them.
#include <atomic>

#include <txsync/locks/tatas.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/park.hpp>

#include "workloads/adapters.hpp"
#include "workloads/explored/exploration.hpp"

namespace txsync::inline TXSYNC_BACKEND::workloads {

namespace {

/// Looks, then takes: two steps.
class look_then_take {
 public:
  void lock() noexcept {
    while (held_.load() != 0) machine::relax();
    held_.store(1);
  }
  void unlock() noexcept { held_.store(0); }

 private:
  std::atomic<std::uint32_t> held_{0};
};

/// Elision that does not read the lock word in the attempt: a thread that took the lock for real is not alone.
class forgotten_subscription {
 public:
  void lock() noexcept {
    for (int tries = 0; tries < 2; ++tries) {
      if (machine::begin().started()) return;
    }
    lock_.lock();
  }
  void unlock() noexcept {
    if (machine::active()) {
      machine::end();
    } else {
      lock_.unlock();
    }
  }

 private:
  tatas_lock lock_;
};

/// Says "there is a waiter" and sleeps on whatever the word is by then: the wake-up may come between the two.
class lost_wake_up {
 public:
  void lock() noexcept {
    while (held_.exchange(1) != 0) {
      waiters_.fetch_add(1);
      machine::park(held_seen(), 1);
      waiters_.fetch_sub(1);
    }
  }
  void unlock() noexcept {
    held_.store(0);
    if (waiters_.load() != 0) machine::unpark(sleep_word_, 1);
  }

 private:
  const std::atomic<std::uint32_t>& held_seen() const noexcept { return sleep_word_; }

  std::atomic<std::uint32_t> held_{0};
  std::atomic<std::uint32_t> waiters_{0};
  std::atomic<std::uint32_t> sleep_word_{1};  // never changes, so that the sleep is not called off
};

/// Tickets of one bit: the third in line has the first one's.
class narrow_ticket {
 public:
  void lock() noexcept {
    const std::uint32_t mine = next_.fetch_add(1) % 2;
    while (serving_.load() % 2 != mine) machine::relax();
  }
  void unlock() noexcept { serving_.fetch_add(1); }

 private:
  std::atomic<std::uint32_t> next_{0};
  std::atomic<std::uint32_t> serving_{0};
};

constexpr exploration table[] = {
    {"seeded:look-then-take", "a lock that is looked at and taken in two steps", true,
     exclusion_test<lockable<look_then_take>, 2, 3>::run},
    {"seeded:forgotten-subscription", "elision that does not read the lock word", true,
     exclusion_test<lockable<forgotten_subscription>, 2, 3>::run},
    {"seeded:lost-wake-up", "a sleeper that misses its wake-up", true,
     exclusion_test<lockable<lost_wake_up>, 2, 3>::run},
    {"seeded:ticket-wrap", "tickets that wrap around too early", true,
     exclusion_test<lockable<narrow_ticket>, 3, 2>::run},
};

}  // namespace

std::span<const exploration> seeded_explorations() noexcept { return table; }

}  // namespace txsync::inline TXSYNC_BACKEND::workloads

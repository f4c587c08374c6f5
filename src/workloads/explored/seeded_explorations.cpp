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

/// Elision as it should be, but that it trusts its subscription: it does not look at the lock again before it commits.
class subscribed_once {
 public:
  void lock() noexcept {
    for (int tries = 0; tries < 2; ++tries) {
      if (!machine::begin().started()) continue;
      if (!lock_.is_held()) return;
      machine::abort<machine::attempt_status::code_lock_busy>();
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

/// Peterson's lock (1981) for two. Without the fence both may miss the other's flag, which is in the other's store
/// buffer.
template <bool fenced>
class peterson {
 public:
  struct slot {
    std::uint32_t index = unknown;
  };
  void lock(slot& mine) noexcept {
    if (mine.index == unknown) mine.index = members_.fetch_add(1, std::memory_order_relaxed);
    const std::uint32_t me = mine.index;
    wants_[me].store(1, std::memory_order_release);
    turn_.store(1 - me, std::memory_order_release);
    if constexpr (fenced) machine::fence();
    while (wants_[1 - me].load(std::memory_order_acquire) != 0 && turn_.load(std::memory_order_acquire) != me) {
      machine::relax();
    }
  }
  void unlock(slot& mine) noexcept { wants_[mine.index].store(0, std::memory_order_release); }

 private:
  static constexpr std::uint32_t unknown = 2;

  std::atomic<std::uint32_t> members_{0};
  std::atomic<std::uint32_t> wants_[2] = {0, 0};
  std::atomic<std::uint32_t> turn_{0};
};

constexpr exploration table[] = {
    {"seeded:look-then-take", "a lock that is looked at and taken in two steps", verdict::broken,
     exclusion_test<lockable<look_then_take>, 2, 3>::run},
    {"seeded:forgotten-subscription", "elision that does not read the lock word", verdict::broken,
     exclusion_test<lockable<forgotten_subscription>, 2, 3>::run},
    {"seeded:lost-wake-up", "a sleeper that misses its wake-up", verdict::broken,
     exclusion_test<lockable<lost_wake_up>, 2, 3>::run},
    {"seeded:ticket-wrap", "tickets that wrap around too early", verdict::broken,
     exclusion_test<lockable<narrow_ticket>, 3, 2>::run},
    {"seeded:missing-fence", "Peterson's lock without its fence", verdict::broken_with_store_buffers,
     exclusion_test<peterson<false>, 2, 3>::run},
    {"seeded:late-subscription", "elision on a machine that watches the lock word too late",
     verdict::broken_with_late_subscription, exclusion_test<lockable<subscribed_once>, 2, 3>::run},
    {"peterson", "Peterson's lock with its fence", verdict::right, exclusion_test<peterson<true>, 2, 3>::run},
};

}  // namespace

std::span<const exploration> seeded_explorations() noexcept { return table; }

}  // namespace txsync::inline TXSYNC_BACKEND::workloads

// SPDX-License-Identifier: Apache-2.0
// Locks with one fault each, of the kinds that people make. Exploring has to find every one of them.
#include <atomic>

#include <txsync/locks/tatas.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/park.hpp>

#include "explorations/exploration.hpp"
#include "workloads/harness/adapters.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {
using workloads::lockable;

/// Checks, then takes: two steps.
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

/// The same after a long stretch of code that involves no other thread. Orders that change their choice only early in a
/// schedule do not find it.
class after_a_long_way {
 public:
  struct slot {
    volatile std::uint32_t way = 0;
  };
  void lock(slot& mine) noexcept {
    while (mine.way != 100) mine.way = mine.way + 1;
    lock_.lock();
  }
  void unlock(slot&) noexcept { lock_.unlock(); }

 private:
  look_then_take lock_;
};

class elision_by_hand {
 public:
  void unlock() noexcept {
    if (machine::active()) {
      machine::end();
    } else {
      lock_.unlock();
    }
  }

 protected:
  tatas_lock lock_;
};

/// Elision that does not read the lock word in the attempt: a thread that really took the lock is then not alone.
struct forgotten_subscription : elision_by_hand {
  void lock() noexcept {
    for (int tries = 0; tries < 2; ++tries) {
      if (machine::begin().started()) return;
    }
    lock_.lock();
  }
};

/// Correct elision, except that it relies on its subscription: it does not check the lock again before it commits.
struct subscribed_once : elision_by_hand {
  void lock() noexcept {
    for (int tries = 0; tries < 2; ++tries) {
      if (!machine::begin().started()) continue;
      if (!lock_.is_held()) return;
      machine::abort<machine::attempt_status::code_lock_busy>();
    }
    lock_.lock();
  }
};

/// Announces a waiter, and then sleeps on whatever the word is by then. The wake-up may come between the two.
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
  std::atomic<std::uint32_t> sleep_word_{1};  // never changes, so the kernel does not refuse the sleep
};

/// Tickets of one bit: the third in line has the same ticket as the first.
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

/// Peterson's lock (1981) for two threads. Without the fence, both may miss the other's flag, which is in the other's
/// store buffer.
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

/// The stray commit of Fig. 1 in Izraelevitz, Xiang and Scott, Always-Abort HTM. A waiter runs the section ahead in an
/// attempt that must not commit. It jumps through a pointer that the holder has not initialised yet, and happens to
/// reach the instruction that commits. If the attempt can commit, x and y differ from then on.
template <bool always_abort>
class stray_commit_test {
 public:
  static void body(stray_commit_test& me, unsigned index) {
    if (index == 0) {
      me.run_section();
    } else {
      me.warm_up();
    }
  }
  const char* check() const { return x_ != y_ ? "an attempt that was never to commit has committed" : nullptr; }
  static const char* run() { return run_anew<stray_commit_test, 2>(); }

 private:
  struct object {
    void (*bar)();
  };
  static void commit() { machine::end(); }
  static void initialised_bar() {}

  void run_section() noexcept {
    lock_.lock();
    ++x_;
    ready_ = true;
    pointer_ = &place_;
    place_.bar = initialised_bar;
    pointer_->bar();
    ++y_;
    lock_.unlock();
  }
  void warm_up() noexcept {
    while (lock_.is_held()) {
      const machine::attempt_status began = always_abort ? machine::warm_begin() : machine::begin();
      if (!began.started()) continue;
      ++x_;
      if (ready_ && pointer_ != nullptr) pointer_->bar();
      // After a commit, anything else might run here.
      if (!machine::active()) return;
      machine::abort<machine::attempt_status::code_fall_back>();
    }
  }

  tatas_lock lock_;
  alignas(64) std::uint32_t x_ = 0;
  std::uint32_t y_ = 0;
  bool ready_ = false;
  object* pointer_ = nullptr;
  object place_{commit};  // the old content
};

constexpr exploration table[] = {
    {"seeded:look-then-take", "a lock that is looked at and taken in two steps", verdict::broken,
     exclusion_test<lockable<look_then_take>, 2, 3>::run},
    {"seeded:look-then-take-late", "the same, hundreds of steps after the start", verdict::broken,
     exclusion_test<after_a_long_way, 2, 3>::run},
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
    {"seeded:stray-commit", "a waiter that runs the section ahead in an attempt that can commit", verdict::broken,
     stray_commit_test<false>::run},
    {"stray-commit-always-abort", "the same in an always-abort attempt", verdict::right, stray_commit_test<true>::run},
    {"peterson", "Peterson's lock with its fence", verdict::right, exclusion_test<peterson<true>, 2, 3>::run},
};

}  // namespace

std::span<const exploration> seeded_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations

// SPDX-License-Identifier: Apache-2.0
// Condition variables and barriers that are wrong on purpose, one way each.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/thread.hpp>

namespace broken {

enum class condition_fault {
  none,
  looks_too_late,      ///< the waiter notes where the notifications stand after it has unlocked
  wakes_one_of_all,    ///< notify_all() is notify_one()
  drops_every_fourth,  ///< some notifications get lost
  keeps_the_lock,      ///< wait() sleeps with the mutex
  returns_without_the_lock,
};

/// Over std::mutex, with one fault.
template <condition_fault Fault>
class condition {
 public:
  void notify_one() {
    if (Fault == condition_fault::drops_every_fourth && ++notifications_ % 4 == 0) return;
    ++changes_;
    txsync::machine::unpark(changes_, 1);
  }
  void notify_all() {
    ++changes_;
    txsync::machine::unpark(changes_, Fault == condition_fault::wakes_one_of_all ? 1 : txsync::machine::everyone);
  }

  void wait(std::unique_lock<std::mutex>& lock) { (void)sleep(lock, txsync::machine::no_deadline); }
  template <class Predicate>
  void wait(std::unique_lock<std::mutex>& lock, Predicate predicate) {
    while (!predicate()) wait(lock);
  }
  template <class Duration>
  std::cv_status wait_for(std::unique_lock<std::mutex>& lock, Duration time) {
    return sleep(lock, after(time)) ? std::cv_status::no_timeout : std::cv_status::timeout;
  }
  template <class Duration, class Predicate>
  bool wait_for(std::unique_lock<std::mutex>& lock, Duration time, Predicate predicate) {
    const std::uint64_t deadline = after(time);
    while (!predicate()) {
      if (!sleep(lock, deadline)) return predicate();
    }
    return true;
  }

 private:
  static std::uint64_t after(std::chrono::nanoseconds time) {
    return txsync::machine::clock_ns() + static_cast<std::uint64_t>(time.count());
  }
  bool sleep(std::unique_lock<std::mutex>& lock, std::uint64_t deadline) {
    std::uint32_t seen = changes_;
    if constexpr (Fault != condition_fault::keeps_the_lock) lock.unlock();
    if constexpr (Fault == condition_fault::looks_too_late) {
      txsync::machine::sleep_ns(100'000);
      seen = changes_;
    }
    bool in_time = true;
    while (in_time && changes_ == seen) {
      in_time = txsync::machine::park(changes_, seen, deadline) != txsync::machine::park_result::timed_out;
    }
    if constexpr (Fault != condition_fault::keeps_the_lock && Fault != condition_fault::returns_without_the_lock) {
      lock.lock();
    }
    return in_time;
  }

  std::atomic<std::uint32_t> changes_{0};
  std::atomic<unsigned> notifications_{0};
};

template <condition_fault Fault>
struct pair_with {
  using mutex = std::mutex;
  using condition = broken::condition<Fault>;
  static constexpr const char* name = "broken";
};

enum class barrier_fault { none, lets_go_one_too_early, is_open_after_once, tells_everybody };

template <barrier_fault Fault>
class barrier {
 public:
  explicit barrier(unsigned threads) : threads_(threads) {}
  bool arrive_and_wait() {
    const unsigned mine = phase_.load();
    const unsigned needed = threads_ - (Fault == barrier_fault::lets_go_one_too_early && threads_ > 1 ? 1 : 0);
    const bool last = ++arrived_ % threads_ == needed % threads_;
    if (last) ++phase_;
    if (Fault == barrier_fault::is_open_after_once && phase_ > 0) return false;
    while (phase_ == mine) txsync::machine::yield();
    return Fault == barrier_fault::tells_everybody || last;
  }

 private:
  const unsigned threads_;
  std::atomic<unsigned> arrived_{0};
  std::atomic<unsigned> phase_{0};
};

}  // namespace broken

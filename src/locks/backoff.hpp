// SPDX-License-Identifier: Apache-2.0
// How a thread waits that has no place to sleep at: it pauses longer after each look, then gives up its CPU.
#pragma once

#include <algorithm>
#include <cstdint>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/environment.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/thread.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::detail {

/// A time in machine::cycles(), from its first moment to its last.
struct span {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Pauses for about `length` units of machine::cycles(). Returns when the pause began and ended. It also ends where time
/// stands still (txsync sim --uncharged).
inline span pause_for(std::uint64_t length) noexcept {
  const std::uint64_t start = machine::cycles();
  for (std::uint64_t turn = 1;; ++turn) {
    machine::relax();
    const std::uint64_t now = machine::cycles();
    if (now - start >= length || turn >= length) return {start, now};
  }
}

/// Reads the clock only if there is a deadline.
inline bool is_past(std::uint64_t deadline) noexcept {
  return deadline != machine::no_deadline && machine::clock_ns() >= deadline;
}

/// Sleeps for `length_ns`, but not past the deadline. Returns false at once if the deadline has passed.
inline bool nap(std::uint64_t length_ns, std::uint64_t deadline) noexcept {
  if (deadline != machine::no_deadline) {
    const std::uint64_t now = machine::clock_ns();
    if (now >= deadline) return false;
    length_ns = std::min(length_ns, deadline - now);
  }
  machine::sleep_ns(length_ns);
  return true;
}

/// A length that doubles up to a bound, for looks at growing intervals.
class doubling {
 public:
  constexpr doubling(std::uint64_t first, std::uint64_t max) noexcept : next_(first), max_(max) {}
  std::uint64_t next() noexcept {
    const std::uint64_t length = next_;
    next_ = std::min(2 * length, max_);
    return length;
  }

 private:
  std::uint64_t next_;
  std::uint64_t max_;
};

/// A small generator for jitter, so that waiters do not move in lockstep (xorshift, Marsaglia 2003). The seed is made
/// of an address, the clock and the run's seed. So a run on the simulated machine repeats exactly, and another seed
/// makes other waits.
class jitter {
 public:
  explicit jitter(const void* place) noexcept
      : state_((((reinterpret_cast<std::uintptr_t>(place) ^ machine::random_seed()) * 0x9E3779B97F4A7C15u) ^
                machine::cycles()) |
               1) {}
  /// A value in [half of bound, bound].
  std::uint64_t upto(std::uint64_t bound) noexcept {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return bound - (state_ % (bound / 2 + 1));
  }

 private:
  std::uint64_t state_;
};

/// Bounded exponential backoff in cycles; then the thread yields its CPU; then it sleeps.
class exponential_backoff {
 public:
  struct limits {
    std::uint64_t first;        ///< cycles
    std::uint64_t longest;      ///< cycles; each later pause is this long
    std::uint64_t spin_budget;  ///< cycles of pausing in all, before the thread yields instead
    std::uint32_t yields;       ///< how often it yields between looks, before it sleeps between them
    std::uint64_t first_nap_ns;
    std::uint64_t max_nap_ns;
  };

  explicit exponential_backoff(const limits& bounds) noexcept
      : bounds_(bounds), next_(bounds.first), naps_(bounds.first_nap_ns, bounds.max_nap_ns), jitter_(this) {}

  void wait() noexcept {
    if (spun_ < bounds_.spin_budget) {
      const std::uint64_t length = jitter_.upto(next_);
      pause_for(length);
      spun_ += length;
      if (next_ < bounds_.longest) next_ *= 2;
    } else if (yielded_ < bounds_.yields) {
      ++yielded_;
      machine::yield();
    } else {
      machine::sleep_ns(jitter_.upto(naps_.next()));
    }
  }

 private:
  const limits& bounds_;
  std::uint64_t next_;
  doubling naps_;
  std::uint64_t spun_ = 0;
  std::uint32_t yielded_ = 0;
  jitter jitter_;
};

/// How a test-and-set lock's waiters wait. Found with ./dev bench locks (docs/locks/tatas.md).
inline constexpr exponential_backoff::limits spin_lock_waiting{
    .first = 64, .longest = 1024, .spin_budget = 4'000, .yields = 200, .first_nap_ns = 20'000, .max_nap_ns = 1'000'000};

/// How a thread waits for its turn in a fair lock: it spins, then yields between looks, then sleeps between looks. The
/// turn comes whether this thread looks or not, and a long pause delays every thread behind it. So the steps are small.
/// A thread with a real-time priority sleeps instead of yielding: its yield() would not let the threads before it run.
class patient_spin {
 public:
  /// One pause, at least `cycles` long while the thread still spins. If `ahead` threads have their turns before this
  /// one, a sleep is `ahead` times as long. Each of those threads has waited longer, so each hand-over takes a sleep.
  /// If all slept for the same time, a thousand threads would wake ten million times a second. The thread whose turn it
  /// is would not find a CPU.
  void wait(std::uint64_t cycles, std::uint32_t ahead = 1) noexcept {
    if (start_ == 0) start_ = machine::cycles();
    const std::uint64_t waited = machine::cycles() - start_;
    if (waited < spin_budget) {
      if (cycles == 0) {
        machine::relax();
      } else {
        pause_for(cycles);
      }
    } else if (gives_way() && waited < yield_budget) {
      machine::yield();
    } else {
      machine::sleep_ns(ahead * (way_ == way::sleeps ? realtime_naps_ns_.next() : nap_ns));
    }
  }

 private:
  static constexpr std::uint64_t spin_budget = 20'000;
  static constexpr std::uint64_t yield_budget = 20'000'000;
  static constexpr std::uint64_t nap_ns = 50'000;

  enum class way : std::uint8_t { unknown, yields, sleeps };
  bool gives_way() noexcept {
    if (way_ == way::unknown) way_ = machine::has_realtime_priority() ? way::sleeps : way::yields;
    return way_ == way::yields;
  }

  std::uint64_t start_ = 0;
  way way_ = way::unknown;
  /// In some virtual machines the kernel takes longer to set a timer than a short nap lasts. Threads of lower priority
  /// on the same CPU, perhaps the holder, then do not run between two short naps.
  doubling realtime_naps_ns_{10'000, 640'000};
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::detail

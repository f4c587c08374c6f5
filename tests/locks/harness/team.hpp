// SPDX-License-Identifier: Apache-2.0
// Threads under a watchdog. A team that makes no progress is given up, and reported with what each of its threads was
// doing. So a lock that hangs fails a test instead of hanging it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace conformance {

/// Empty when all is well; otherwise what was violated. Scenarios return it instead of asserting, so that a test of
/// the suite can demand that a broken lock is caught.
using violation = std::string;

/// A team is given up when none of its threads has ticked for this long.
inline constexpr std::chrono::milliseconds usual_patience{30'000};

class team;

/// What one thread of a team has: its number, and how it reports. All its marks are relaxed, so that they order
/// nothing: ThreadSanitizer sees only the order that the lock under test makes.
class alignas(128) seat {
 public:
  unsigned index() const { return index_; }
  /// What the thread does next, for the watchdog's report. Requires: a string that lives for ever.
  void at(const char* place) { place_.store(place, std::memory_order_relaxed); }
  /// Progress of a kind that is bounded: a team whose threads tick for ever is never given up.
  void tick() { ticks_.store(ticks_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  /// Reports a violation; the team's first one counts, and the team is given up. The thread may go on, and should end
  /// soon.
  void fail(const violation& what);
  /// Yields until the condition holds, and answers true; false when the team was given up: then leave.
  template <class Condition>
  bool await(const char* what, Condition condition) {
    at(what);
    for (unsigned looks = 0; !condition(); ++looks) {
      if (given_up()) return false;
      if (looks > 1000) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      } else {
        std::this_thread::yield();
      }
    }
    return true;
  }
  bool given_up() const;

 private:
  friend class team;
  unsigned index_ = 0;
  team* team_ = nullptr;
  std::atomic<const char*> place_{"not started"};
  std::atomic<std::uint64_t> ticks_{0};
  std::atomic<bool> ended_{false};
};

/// Runs body(seat) in that many threads, all let go at once, and waits for their end. Answers the first violation, an
/// exception's text, or what hangs. Threads that hang are left behind, so the body owns all that it uses (capture
/// shared_ptrs by value).
violation run_team(unsigned threads, const std::function<void(seat&)>& body,
                   std::chrono::milliseconds patience = usual_patience);

/// How long the holder lets a waiter wait.
enum class waits { short_ones, long_ones };

/// Long enough for a waiter to have gone to sleep, mostly; nothing depends on it but what the test gets to see.
inline void let_others_park() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

}  // namespace conformance

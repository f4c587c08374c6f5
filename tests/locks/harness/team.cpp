// SPDX-License-Identifier: Apache-2.0
#include "harness/team.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

namespace conformance {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Owned by every thread of it and by the one that waits, whichever ends last.
class team : public std::enable_shared_from_this<team> {
 public:
  team(unsigned threads, std::function<void(seat&)> body) : seats_(threads), body_(std::move(body)) {
    for (unsigned i = 0; i < threads; ++i) {
      seats_[i].index_ = i;
      seats_[i].team_ = this;
    }
  }

  violation run(milliseconds patience) {
    std::vector<std::thread> threads;
    threads.reserve(seats_.size());
    for (seat& one : seats_) threads.emplace_back([self = shared_from_this(), &one] { self->live(one); });
    const bool ended = watch(patience);
    for (std::thread& one : threads) {
      if (ended) {
        one.join();
      } else {
        one.detach();
      }
    }
    const std::lock_guard guard(mutex_);
    return first_violation_;
  }

  void fail(const violation& what) {
    const std::lock_guard guard(mutex_);
    if (first_violation_.empty()) first_violation_ = what.empty() ? "a violation without words" : what;
    given_up_.store(true, std::memory_order_relaxed);  // relaxed: orders nothing, see seat
  }
  bool given_up() const { return given_up_.load(std::memory_order_relaxed); }

 private:
  void live(seat& mine) {
    // relaxed: the start orders nothing, see seat
    here_.fetch_add(1, std::memory_order_relaxed);
    while (here_.load(std::memory_order_relaxed) < seats_.size()) std::this_thread::yield();
    try {
      body_(mine);
    } catch (const std::exception& error) {
      fail(std::string("an exception left the thread: ") + error.what());
    } catch (...) {
      fail("an unknown exception left the thread");
    }
    mine.ended_.store(true, std::memory_order_relaxed);
    const std::lock_guard guard(mutex_);
    ++ended_;
    some_ended_.notify_one();
  }

  /// False when threads are left that do not end.
  bool watch(milliseconds patience) {
    // After a violation nothing need work any more: who looks at given_up() ends quickly, and who hangs is left behind.
    constexpr milliseconds short_patience{100};
    std::unique_lock guard(mutex_);
    std::uint64_t last_ticks = 0;
    auto last_progress = steady_clock::now();
    while (ended_ < seats_.size()) {
      some_ended_.wait_for(guard, milliseconds(20));
      const std::uint64_t ticks_now = ticks() + ended_;
      if (ticks_now != last_ticks) last_progress = steady_clock::now();
      last_ticks = ticks_now;
      const milliseconds limit = first_violation_.empty() ? patience : std::min(short_patience, patience);
      if (steady_clock::now() - last_progress < limit) continue;
      if (given_up()) return false;
      if (first_violation_.empty()) first_violation_ = what_hangs(patience);
      given_up_.store(true, std::memory_order_relaxed);
      last_progress = steady_clock::now();
    }
    return true;
  }

  std::uint64_t ticks() const {
    std::uint64_t sum = 0;
    for (const seat& one : seats_) sum += one.ticks_.load(std::memory_order_relaxed);
    return sum;
  }

  violation what_hangs(milliseconds patience) const {
    violation text = "no progress for " + std::to_string(patience.count()) + " ms, hanging are:";
    for (const seat& one : seats_) {
      if (one.ended_.load(std::memory_order_relaxed)) continue;
      text += " thread " + std::to_string(one.index_) + " of " + std::to_string(seats_.size()) + " (" +
              one.place_.load(std::memory_order_relaxed) + ", after " +
              std::to_string(one.ticks_.load(std::memory_order_relaxed)) + " ticks)";
    }
    return text;
  }

  std::vector<seat> seats_;
  const std::function<void(seat&)> body_;
  std::atomic<unsigned> here_{0};
  std::atomic<bool> given_up_{false};
  std::mutex mutex_;
  std::condition_variable some_ended_;
  unsigned ended_ = 0;
  violation first_violation_;
};

void seat::fail(const violation& what) { team_->fail(what); }
bool seat::given_up() const { return team_->given_up(); }

violation run_team(unsigned threads, const std::function<void(seat&)>& body, milliseconds patience) {
  return std::make_shared<team>(threads, body)->run(patience);
}

}  // namespace conformance

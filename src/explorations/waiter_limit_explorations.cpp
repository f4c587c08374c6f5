// SPDX-License-Identifier: Apache-2.0
// The largest number of waiters that can be counted, and more. The words begin nearly full of threads that do not
// exist, or count up to a lower limit (waiter_limits.hpp). Also numbers that wrap around. Seeded fault: no check
// whether there is room.
#include "locks/waiter_limits.hpp"

#include <atomic>
#include <mutex>

#include <txsync/condition_variable.hpp>
#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/futex_rwlock.hpp>
#include <txsync/locks/ticket.hpp>

#include "explorations/exploration.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

namespace {

constexpr detail::waiter_limits usual{};
constexpr std::uint32_t no_limit = 0x7FFF'FFFF;

template <class Word, class Object>
std::atomic<Word>& word_of(Object& object) noexcept {
  return reinterpret_cast<std::atomic<Word>&>(object);
}

/// One thread notifies once for each of the others. `absent` threads were notified but never leave.
template <std::uint32_t absent, std::uint32_t limit, unsigned threads>
struct crowded_condition_test {
  static constexpr std::uint64_t at_start = std::uint64_t{absent} << 16;
  static constexpr std::uint64_t counts = 0xFFFF'FFFF;  // the waiting threads, and the notified ones

  mutex lock{};
  condition_variable changed{};
  unsigned told = 0;
  unsigned taken = 0;

  crowded_condition_test() noexcept {
    detail::max_waiters.at_condition = limit;
    word_of<std::uint64_t>(changed).store(at_start);
  }
  ~crowded_condition_test() {
    detail::max_waiters = usual;
    word_of<std::uint64_t>(changed).store(0);  // otherwise the destructor would wait for the threads that do not exist
  }

  static void body(crowded_condition_test& me, unsigned index) {
    if (index == 0) {
      for (unsigned i = 1; i < threads; ++i) {
        const std::lock_guard held(me.lock);
        ++me.told;
        me.changed.notify_one();
      }
      return;
    }
    std::unique_lock held(me.lock);
    while (me.told == me.taken) me.changed.wait(held);
    ++me.taken;
  }
  const char* check() {
    if (taken != threads - 1) return "a notification was lost";
    return (word_of<std::uint64_t>(changed).load() & counts) != at_start ? "the counts say what is not so" : nullptr;
  }
};

// Bits of futex_mutex's word.
constexpr std::uint64_t quiet = std::uint64_t{1} << 63;
constexpr std::uint64_t last_number = 0x1FFF;
constexpr std::uint64_t numbers(std::uint64_t granted, std::uint64_t drawn) noexcept {
  return granted << 16 | drawn << 29;
}
constexpr unsigned in_line(std::uint64_t word) noexcept {
  return static_cast<unsigned>(((word >> 29) - (word >> 16)) & last_number);
}
constexpr std::uint64_t one_aside = std::uint64_t{1} << 58;
constexpr unsigned waiting_aside(std::uint64_t word) noexcept { return word / one_aside & 31; }

enum class ways : std::uint8_t { by_line, by_deadline };

/// Sections of threads that wait in line, or with deadlines. Each checks whether the word counts correctly.
template <ways how, std::uint64_t at_start, std::uint32_t limit, unsigned threads>
struct crowded_mutex_test {
  static constexpr unsigned sections = 2;

  futex_mutex lock{};
  unsigned inside = 0;  // guarded by the lock
  unsigned count = 0;
  const char* wrong = nullptr;

  crowded_mutex_test() noexcept {
    detail::wait_with(detail::patience::brief);
    (how == ways::by_line ? detail::max_waiters.in_line : detail::max_waiters.aside) = limit;
    word_of<std::uint64_t>(lock).store(at_start);
  }
  ~crowded_mutex_test() {
    detail::wait_with(detail::patience::usual);
    detail::max_waiters = usual;
  }

  void acquire(unsigned turn) noexcept {
    constexpr std::uint64_t long_enough_ns = 1'000'000'000;
    if (how == ways::by_line) return lock.lock();
    if (turn == 0) return hurry([this](std::uint64_t until) noexcept { return lock.try_lock_until_ns(until); });
    // Explored deadlines may come at any time.
    while (!lock.try_lock_until_ns(machine::clock_ns() + long_enough_ns)) machine::yield();
  }
  void look() noexcept {
    const std::uint64_t seen = word_of<std::uint64_t>(lock).load();
    if (in_line(seen) < in_line(at_start) || waiting_aside(seen) < waiting_aside(at_start))
      wrong = "fewer are counted than wait";
    if (how == ways::by_line && in_line(at_start) == 0 && in_line(seen) > limit) wrong = "more are in line than may be";
  }
  static void body(crowded_mutex_test& me, unsigned) {
    for (unsigned i = 0; i < sections; ++i) {
      me.acquire(i);
      if (me.inside++ != 0) me.wrong = "two threads were inside at once";
      ++me.count;
      me.look();
      --me.inside;
      me.lock.unlock();
    }
  }
  const char* check() {
    if (wrong != nullptr) return wrong;
    if (count != threads * sections) return "an update was lost";
    const std::uint64_t seen = word_of<std::uint64_t>(lock).load();
    const bool same = in_line(seen) == in_line(at_start) && waiting_aside(seen) == waiting_aside(at_start);
    return same && !lock.is_held() ? nullptr : "the word counts what is gone";
  }
};
/// A line of the maximum length, with its head, of threads that do not exist.
constexpr std::uint64_t full_line = numbers(0, usual.in_line) | std::uint64_t{3} << 50 | quiet;
constexpr std::uint64_t before_the_last = numbers(last_number, last_number) | quiet;
constexpr std::uint64_t full_aside = std::uint64_t{usual.aside} * one_aside;

template <std::uint32_t limit, unsigned threads = 3, std::uint64_t at_start = full_line>
constexpr auto line = run_anew<crowded_mutex_test<ways::by_line, at_start, limit, threads>, threads>;
template <std::uint32_t limit, unsigned threads = 3, std::uint64_t at_start = full_aside>
constexpr auto beside = run_anew<crowded_mutex_test<ways::by_deadline, at_start, limit, threads>, threads>;
template <std::uint32_t absent, std::uint32_t limit = usual.at_condition, unsigned threads = 3>
constexpr auto condition = run_anew<crowded_condition_test<absent, limit, threads>, threads>;

/// No waiter can be counted. One waits for a lock that stays held, or at a condition, until its deadline.
template <class Wait>
struct expiring_test {
  static constexpr std::uint64_t patience_ns = 1'500'000;  // more than one nap

  Wait wait{};
  const char* wrong = nullptr;

  expiring_test() noexcept {
    detail::max_waiters.aside = detail::max_waiters.asleep = detail::max_waiters.at_condition = 0;
  }
  ~expiring_test() { detail::max_waiters = usual; }

  static void body(expiring_test& me, unsigned) {
    const std::uint64_t deadline = machine::clock_ns() + patience_ns;
    while (me.wait.until(deadline)) {
      if (!Wait::may_end_early) me.wrong = "a lock that is held was acquired";
    }
    if (machine::clock_ns() < deadline) me.wrong = "the wait ended before its deadline";
  }
  const char* check() const { return wrong; }
};
template <class Lock>
struct wait_for {
  static constexpr bool may_end_early = false;
  Lock lock{};
  wait_for() { lock.lock(); }
  ~wait_for() { lock.unlock(); }
  bool until(std::uint64_t deadline) noexcept { return lock.try_lock_until_ns(deadline); }
};
struct wait_at_condition {
  static constexpr bool may_end_early = true;
  mutex lock{};
  condition_variable changed{};
  bool until(std::uint64_t deadline) noexcept {
    std::unique_lock held(lock);
    return changed.wait_until_ns(held, deadline) == std::cv_status::no_timeout;
  }
};

/// A ticket lock that compares numbers instead of their distance.
class without_wrap {
 public:
  void lock() noexcept {
    const std::uint32_t mine = next_.fetch_add(step);
    while (serving_.load() < mine) machine::relax();
  }
  void unlock() noexcept { serving_.fetch_add(step); }

 private:
  static constexpr std::uint32_t step = 16;
  std::atomic<std::uint32_t> next_{0};
  std::atomic<std::uint32_t> serving_{0};
};

/// The first `words` words of the lock are numbers that wrap around after two more threads.
template <class Lock, unsigned words>
struct numbered_test {
  static constexpr unsigned threads = 3;
  static constexpr unsigned sections = 2;

  Lock lock{};
  unsigned inside = 0;
  unsigned count = 0;
  bool met = false;

  numbered_test() noexcept {
    detail::lower_patience(2);
    for (unsigned i = 0; i < words; ++i)
      (&word_of<std::uint32_t>(lock))[i].store(i < 2 ? 0xFFFF'FFE0
                                                     : 0xFFFF'FFFE);  // tickets go by 16, the limiter by 1
  }
  ~numbered_test() { detail::lower_patience(0); }

  static void body(numbered_test& me, unsigned) {
    for (unsigned i = 0; i < sections; ++i) {
      me.lock.lock();
      if (me.inside++ != 0) me.met = true;
      ++me.count;
      --me.inside;
      me.lock.unlock();
    }
  }
  const char* check() const {
    if (met) return "two threads were inside at once";
    return count != threads * sections ? "an update was lost" : nullptr;
  }
  static const char* run() { return run_anew<numbered_test, threads>(); }
};

constexpr auto right = verdict::right;
constexpr auto broken = verdict::broken;
constexpr unsigned sleeps = 1;
constexpr std::uint32_t all_but_one = usual.at_condition - 1;

constexpr exploration table[] = {
    {"condition_variable-few", "one may wait, three want to", right, condition<0, 1, 4>},
    {"condition_variable-full", "none may wait, two want to", right, condition<usual.at_condition>},
    {"condition_variable-full-1", "one more may wait, two want to", right, condition<all_but_one>},
    {"condition_variable-full-late", "none may wait, and a deadline passes", right,
     run_anew<expiring_test<wait_at_condition>, 1>},
    {"futex-line-few", "one may be in line, numbers begin anew", right, line<1, 4, before_the_last>, sleeps},
    {"futex-line-full", "a full line of threads that are not there", right, line<usual.in_line>, sleeps},
    {"futex-aside-few", "one may wait with a deadline, three want to", right, beside<1, 3, quiet>, sleeps},
    {"futex-aside-full", "no more may wait with a deadline", right, beside<usual.aside>, sleeps},
    {"futex-aside-full-1", "one more may wait with a deadline", right, beside<usual.aside, 3, full_aside - one_aside>,
     sleeps},
    {"futex-aside-full-late", "none may wait with a deadline, and it passes", right,
     run_anew<expiring_test<wait_for<futex_mutex>>, 1>},
    {"futex_rwlock-full-late", "none may sleep, and a deadline passes", right,
     run_anew<expiring_test<wait_for<futex_rwlock>>, 1>},
    {"fifo_ticket-wrap", "tickets begin anew", right, numbered_test<fifo_ticket_lock, 2>::run},
    {"ticket-wrap", "tickets, and numbers of threads outside, begin anew", right, numbered_test<ticket_lock, 4>::run,
     sleeps},
    {"seeded:condition_variable-full", "one more waits than can be counted", broken, condition<all_but_one, no_limit>},
    {"seeded:futex-line-full", "one more is in line than can be counted", broken, line<no_limit>, sleeps},
    {"seeded:futex-aside-full", "one more waits with a deadline than can be counted", broken, beside<no_limit>, sleeps},
    {"seeded:ticket-compared", "tickets are compared as numbers", broken, numbered_test<without_wrap, 2>::run},
};

}  // namespace

std::span<const exploration> waiter_limit_explorations() noexcept { return table; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations

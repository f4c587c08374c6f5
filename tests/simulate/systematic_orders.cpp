// SPDX-License-Identifier: Apache-2.0
// The systematic order on a machine that is a few lines: random small programs, each compared with all of its
// interleavings. Every execution that is not equivalent to another has to be made, and made once.
#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <txsync/explore.hpp>

#include "simulate/systematic.hpp"

// Keys and the runtime know the orders of txsync::explore() by their numbers.
static_assert(static_cast<int>(txsync::explore_order::random) == static_cast<int>(txsync::sim::schedule_order::random));
static_assert(static_cast<int>(txsync::explore_order::priorities) ==
              static_cast<int>(txsync::sim::schedule_order::priorities));
static_assert(static_cast<int>(txsync::explore_order::round_robin) ==
              static_cast<int>(txsync::sim::schedule_order::round_robin));
static_assert(static_cast<int>(txsync::explore_order::delay_bounded) ==
              static_cast<int>(txsync::sim::schedule_order::delay_bounded));
static_assert(static_cast<int>(txsync::explore_order::partial_order) ==
              static_cast<int>(txsync::sim::schedule_order::partial_order));
static_assert(static_cast<int>(txsync::explore_order::uniform_walk) ==
              static_cast<int>(txsync::sim::schedule_order::uniform_walk));

namespace {

using namespace txsync::native::simulate;
namespace sim = txsync::sim;
using event_kind = sim::segment_event_kind;

enum class action : std::uint8_t { reads, writes, locks, tries, unlocks, waits, posts, joins, ends };
struct operation {
  action what;
  unsigned of;  ///< a word, a lock, a semaphore or a thread
};
using program = std::vector<std::vector<operation>>;

constexpr unsigned things = 3;
constexpr std::uint64_t first_lock = 0x1000;
constexpr std::uint64_t first_semaphore = 0x2000;

/// An operation that was made: the thread, its number there, and what it has touched.
struct made_operation {
  unsigned thread;
  std::size_t number;
  std::vector<sim::segment_touch> touches;
  bool is_try_that_failed;
  bool is_end;
};

class small_machine {
 public:
  explicit small_machine(const program& what) : what_(what), next_(what.size()) {}

  bool can_go_on(unsigned thread) const {
    if (has_ended_ || next_[thread] == what_[thread].size()) return false;
    return would_go_on(thread);
  }
  const operation& next_of(unsigned thread) const { return what_[thread][next_[thread]]; }
  bool would_go_on(unsigned thread) const {
    const operation& next = what_[thread][next_[thread]];
    if (next.what == action::locks) return depth_[next.of] == 0 || owner_[next.of] == thread;
    if (next.what == action::waits) return tokens_[next.of] != 0;
    if (next.what == action::joins) return next_[next.of] == what_[next.of].size();
    return true;
  }
  std::vector<unsigned> able() const {
    std::vector<unsigned> all;
    for (unsigned thread = 0; thread < what_.size(); ++thread) {
      if (can_go_on(thread)) all.push_back(thread);
    }
    return all;
  }

  /// Makes the thread's next operation; adds what it does to the segment.
  void step(unsigned thread, sim::segment& into) {
    const operation& now = what_[thread][next_[thread]];
    made_operation made{thread, next_[thread]++, {}, false, now.what == action::ends};
    const auto touches = [&](std::uint64_t word, bool write) { made.touches.push_back({word, 0xFF, write ? 1U : 0U}); };
    const auto happens = [&](event_kind kind, std::uint64_t of) { into.events.push_back({kind, of}); };
    const std::uint64_t lock = first_lock + 8 * now.of;
    switch (now.what) {
      case action::reads:
      case action::writes:
        touches(8 * now.of, now.what == action::writes);
        break;
      case action::locks:
      case action::tries:
        made.is_try_that_failed = depth_[now.of] != 0 && owner_[now.of] != thread;
        touches(lock, !made.is_try_that_failed);
        if (made.is_try_that_failed) break;
        if (depth_[now.of]++ == 0)
          happens(now.what == action::locks ? event_kind::takes : event_kind::takes_by_try, lock);
        owner_[now.of] = thread;
        break;
      case action::unlocks:  // of a try that has failed it does nothing
        touches(lock, depth_[now.of] != 0 && owner_[now.of] == thread);
        if (depth_[now.of] != 0 && owner_[now.of] == thread && --depth_[now.of] == 0)
          happens(event_kind::gives_up, lock);
        break;
      case action::waits:
        touches(first_semaphore + 8 * now.of, true);
        happens(event_kind::waits_at, first_semaphore + 8 * now.of);
        --tokens_[now.of];
        break;
      case action::posts:
        touches(first_semaphore + 8 * now.of, true);
        ++tokens_[now.of];
        break;
      case action::joins:
        happens(event_kind::joins, now.of);
        break;
      case action::ends:
        touches(sim::whole_process, true);
        has_ended_ = true;
        break;
    }
    into.touches.insert(into.touches.end(), made.touches.begin(), made.touches.end());
    done_.push_back(std::move(made));
  }

  /// What the threads would do that wait for a lock or a semaphore.
  std::vector<sim::segment> awaited() const {
    std::vector<sim::segment> all;
    for (unsigned thread = 0; thread < what_.size(); ++thread) {
      if (next_[thread] == what_[thread].size() || would_go_on(thread)) continue;
      const operation& next = what_[thread][next_[thread]];
      const std::uint64_t lock = first_lock + 8 * next.of;
      const std::uint64_t semaphore = first_semaphore + 8 * next.of;
      if (next.what == action::locks)
        all.push_back({.thread = thread, .touches = {{lock, 0xFF, 1}}, .events = {{event_kind::takes, lock}}});
      if (next.what == action::waits)
        all.push_back(
            {.thread = thread, .touches = {{semaphore, 0xFF, 1}}, .events = {{event_kind::waits_at, semaphore}}});
    }
    return all;
  }

  /// Equal for equivalent executions.
  using key = std::set<std::tuple<unsigned, std::size_t, unsigned, std::size_t>>;
  key order() const {
    key pairs;
    for (std::size_t j = 0; j < done_.size(); ++j) {
      pairs.insert({done_[j].thread, done_[j].number, done_[j].is_try_that_failed ? 98U : 99U, 0});
      for (std::size_t i = 0; i < j; ++i) {
        if (done_[i].thread != done_[j].thread && depend(done_[i], done_[j]))
          pairs.insert({done_[i].thread, done_[i].number, done_[j].thread, done_[j].number});
      }
    }
    return pairs;
  }

 private:
  static bool depend(const made_operation& a, const made_operation& b) {
    if (a.is_end || b.is_end) return true;
    for (const sim::segment_touch& one : a.touches) {
      for (const sim::segment_touch& other : b.touches) {
        if (sim::are_dependent(one, other)) return true;
      }
    }
    return false;
  }

  const program& what_;
  std::vector<std::size_t> next_;
  unsigned depth_[things] = {};
  unsigned owner_[things] = {};
  unsigned tokens_[things] = {1, 0, 2};
  bool has_ended_ = false;
  std::vector<made_operation> done_;
};

void all_interleavings(const small_machine& from, std::set<small_machine::key>& into) {
  const std::vector<unsigned> able = from.able();
  if (able.empty()) into.insert(from.order());
  for (const unsigned thread : able) {
    small_machine next = from;
    sim::segment unused;
    next.step(thread, unused);
    all_interleavings(next, into);
  }
}

struct run {
  std::vector<sim::segment> segments;
  std::vector<sim::segment> awaited;
  small_machine::key order;
  bool is_whole = true;
};

bool wakes_up(const std::vector<sim::segment_touch>& would_touch, const sim::segment& made) {
  for (const sim::segment_touch& one : would_touch) {
    if (one.word == sim::whole_process) return true;
    for (const sim::segment_touch& other : made.touches) {
      if (sim::are_dependent(one, other)) return true;
    }
  }
  return false;
}

/// As an image makes it (src/sim/runtime/systematic.cpp).
run execute(const program& what, const execution_plan& plan) {
  small_machine machine(what);
  run made;
  auto sleeping = plan.sleeping;
  for (;;) {
    const std::vector<unsigned> able = machine.able();
    const bool is_alone = able.size() == 1 && !made.segments.empty() && made.segments.back().thread == able[0] &&
                          machine.next_of(able[0]).what != action::joins;
    if (is_alone) {
      machine.step(able[0], made.segments.back());
      continue;
    }
    if (!made.segments.empty() && made.segments.size() >= plan.choices.size())
      std::erase_if(sleeping, [&](const auto& one) { return wakes_up(one.second, made.segments.back()); });
    if (able.empty()) break;
    const std::size_t number = made.segments.size();
    unsigned chosen = able[0];
    if (number < plan.choices.size()) {
      chosen = plan.choices[number];
      EXPECT_NE(std::find(able.begin(), able.end(), chosen), able.end())
          << "the plan chooses a thread that cannot go on";
    } else {
      const auto awake = std::find_if(able.begin(), able.end(), [&](unsigned one) { return !sleeping.contains(one); });
      if (awake == able.end()) {
        made.is_whole = false;
        break;
      }
      chosen = *awake;
    }
    std::uint64_t enabled = 0;
    for (const unsigned thread : able) enabled |= std::uint64_t{1} << thread;
    made.segments.push_back({.thread = chosen, .enabled = enabled});
    machine.step(chosen, made.segments.back());
  }
  made.awaited = machine.awaited();
  made.order = machine.order();
  return made;
}

std::string text_of(const program& what) {
  static constexpr const char* names[] = {"r", "w", "lock ", "try ", "unlock ", "wait ", "post ", "join ", "end "};
  std::string text;
  for (const auto& thread : what) {
    for (const operation& one : thread) text += names[static_cast<unsigned>(one.what)] + std::to_string(one.of) + "; ";
    text += "\n";
  }
  return text;
}

void expect_each_execution_once(const program& what) {
  std::set<small_machine::key> expected;
  all_interleavings(small_machine(what), expected);
  std::map<small_machine::key, unsigned> made;
  systematic_exploration executions;
  for (unsigned runs = 0; executions.has_next(); ++runs) {
    ASSERT_LT(runs, 200'000U) << text_of(what);
    run one = execute(what, executions.next());
    if (one.is_whole) ++made[one.order];
    executions.add(std::move(one.segments), one.awaited);
  }
  for (const auto& [order, count] : made) EXPECT_EQ(count, 1U) << "made more than once:\n" << text_of(what);
  EXPECT_EQ(made.size(), expected.size()) << text_of(what);
}

TEST(SystematicOrders, ATryOfALockFailsInOneExecution) {
  const program what = {{{action::locks, 0}, {action::writes, 0}, {action::unlocks, 0}}, {{action::tries, 0}}};
  std::set<small_machine::key> expected;
  all_interleavings(small_machine(what), expected);
  EXPECT_EQ(expected.size(), 3U);  // before the critical section, in it, and after it
  expect_each_execution_once(what);
}

TEST(SystematicOrders, ALockThatIsTakenTwiceIsGivenUpOnce) {
  expect_each_execution_once({{{action::locks, 0}, {action::locks, 0}, {action::unlocks, 0}, {action::unlocks, 0}},
                              {{action::locks, 0}, {action::unlocks, 0}}});
}

TEST(SystematicOrders, TheEndOfTheProcessCutsOthersOffAtEachPlace) {
  expect_each_execution_once({{{action::writes, 0}, {action::ends, 0}}, {{action::writes, 1}, {action::writes, 2}}});
}

/// Locks are given up by the thread that has them, and a thread joins later ones only.
program random_program(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](unsigned bound) { return static_cast<unsigned>(random() % bound); };
  program what(2 + below(2));
  const unsigned length = what.size() == 2 ? 5 : 3;
  for (unsigned thread = 0; thread < what.size(); ++thread) {
    std::vector<unsigned> held;
    while (what[thread].size() + held.size() < length) {
      switch (below(9)) {
        case 0:
        case 1:
          what[thread].push_back({action::reads, below(2)});
          break;
        case 2:
        case 3:
          what[thread].push_back({action::writes, below(2)});
          break;
        case 4:
        case 5:
          held.push_back(below(2));
          what[thread].push_back({below(3) == 0 ? action::tries : action::locks, held.back()});
          break;
        case 6:
          what[thread].push_back({below(2) == 0 ? action::waits : action::posts, below(things)});
          break;
        case 7:
          if (thread + 1 < what.size()) what[thread].push_back({action::joins, thread + 1});
          break;
        default:
          if (below(4) == 0) what[thread].push_back({action::ends, 0});
          break;
      }
      if (!held.empty() && below(3) == 0) {
        what[thread].push_back({action::unlocks, held.back()});
        held.pop_back();
      }
    }
    for (; !held.empty(); held.pop_back()) what[thread].push_back({action::unlocks, held.back()});
  }
  return what;
}

TEST(SystematicOrders, MakeEachExecutionOfRandomProgramsOnce) {
  for (unsigned seed = 1; seed <= 1'000 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    expect_each_execution_once(random_program(seed));
  }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Runs a small concurrent test in thousands of orders of execution, within one process: for tests with GoogleTest, Catch2,
// or no framework at all.
//
//   TEST(Queue, IsEmptyAfterwards) {
//     txsync::explore({.has_failed = testing::Test::HasFailure}, [] {
//       queue<int> made;
//       std::thread pusher([&] { made.push(1); });
//       std::thread popper([&] { made.pop(); });
//       pusher.join();
//       popper.join();
//       EXPECT_TRUE(made.is_empty());
//     });
//   }
//
// Compile the test and its framework with txsync-c++ (docs/explore.md). The program then runs on the simulated machine,
// and is started like any other. Compiled in the usual way, explore() runs the body once.
//
// Source: the orders are those of `txsync explore`; docs/explore.md names their papers.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <utility>

#include <txsync_backend/name.hpp>
#if defined(__TXSYNC_SIMULATED__)
#include <txsync_backend/runtime.h>
#endif

namespace txsync::TXSYNC_INLINE_BACKEND {

/// Which thread goes on. docs/explore.md says what each order is.
enum class explore_order : std::uint8_t {
  in_turn,  ///< each schedule has another one: random, priorities, delay_bounded, partial_order, uniform_walk
  random,
  priorities,
  round_robin,
  delay_bounded,
  partial_order,
  uniform_walk
};

struct explore_options {
  /// How often the body runs. The environment variable TXSYNC_EXPLORE_SCHEDULES takes precedence. Before them there are
  /// some 16 schedules from which the others learn which accesses matter.
  std::uint64_t schedules = 10'000;
  std::uint64_t seed = 1;  ///< of the first schedule; each further one adds 1. 0 counts as 1
  /// A schedule of more steps is a livelock. 0: 20 times those of the first schedules, at least 10 million.
  std::uint64_t max_steps = 0;
  explore_order order = explore_order::in_turn;
  bool store_buffers = false;  ///< stores wait in store buffers, as on x86
  bool races = false;          ///< a data race is a fault, too
  /// Asked after each schedule: whether a check of the body has failed. With GoogleTest: testing::Test::HasFailure. Null
  /// if checks throw or end the program.
  bool (*has_failed)() = nullptr;
};

struct exploration {
  std::uint64_t schedules = 0;  ///< that were run, without those that come first
  bool failed = false;          ///< has_failed() was true after the last one, or before the first
};

/// Runs the body in one schedule after the other, until one fails.
///
/// A schedule fails if has_failed() is true after it. Then the exploration ends, and the standard error gets a line with
/// the command that repeats the schedule: `txsync replay KEY -- PROGRAM` shows the steps of each thread. If the body
/// throws, the same line is written, and the exception goes on to the caller. Other faults end the program, with a
/// sentence and the exit status 99:
///  - deadlocks, and schedules that do not end;
///  - failed assertions and crashes, accesses to freed memory, and data races if asked for;
///  - a thread that is not joined when the body returns.
///
/// Nothing runs if has_failed() is true before the first schedule. The key names the place of the call; the second call
/// at one place (a loop, a helper) has "#2" there. A key holds for the same program with the same arguments.
///
/// Requires: the body starts from the same state each time, joins the threads that it has started, and makes no system
/// calls whose results differ. No other thread of the program runs. explore() is not called by a body.
///
/// The clocks begin anew with each schedule. Under `txsync sim`, `txsync explore -- PROGRAM` and natively, the body runs
/// once. Cost: some 5 to 50 us a schedule of a few hundred accesses.
template <class Body>
exploration explore(const explore_options& options, Body&& body,
                    std::source_location where = std::source_location::current());

#if defined(__TXSYNC_SIMULATED__)

namespace explore_detail {

/// "queue_test.cpp:42", one word.
inline std::string name_of(const std::source_location& where) {
  std::string name = where.file_name();
  name.erase(0, name.rfind('/') + 1);
  for (char& c : name) c = c == ' ' || c == '@' ? '_' : c;
  return name + ":" + std::to_string(where.line());
}

}  // namespace explore_detail

template <class Body>
exploration explore(const explore_options& options, Body&& body, std::source_location where) {
  if (options.has_failed != nullptr && options.has_failed()) return {0, true};
  const std::string name = explore_detail::name_of(where);
  const txsync_sim_exploration asked{.name = name.c_str(),
                                     .schedules = options.schedules,
                                     .seed = options.seed,
                                     .max_steps = options.max_steps,
                                     .order = static_cast<unsigned>(options.order),
                                     .store_buffers = options.store_buffers ? 1U : 0U,
                                     .races = options.races ? 1U : 0U};
  txsync_sim_explore_begin(&asked);
  bool failed = false;
  while (!failed && txsync_sim_explore_next() != 0) {
    try {
      body();
    } catch (...) {
      txsync_sim_explore_failed();
      throw;
    }
    failed = options.has_failed != nullptr && options.has_failed();
    if (failed) txsync_sim_explore_failed();
  }
  return {txsync_sim_explored(), failed};
}

#else

template <class Body>
exploration explore(const explore_options& options, Body&& body, std::source_location) {
  if (options.has_failed != nullptr && options.has_failed()) return {0, true};
  std::forward<Body>(body)();
  return {1, options.has_failed != nullptr && options.has_failed()};
}

#endif

}  // namespace txsync::TXSYNC_INLINE_BACKEND

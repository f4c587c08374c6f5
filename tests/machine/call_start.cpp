// SPDX-License-Identifier: Apache-2.0
// Calls that begin anew: they return to the same caller, whose variables keep their values, and exceptions come out.
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "machine/call_start.hpp"

namespace {

namespace machine = txsync::machine;

struct state {
  machine::call_start start;
  int runs = 0;
  int last = 0;
  bool throws = false;
};

void finish(void* raw);

/// Deep enough that frames lie between the call and its new beginning.
[[gnu::noinline]] void descend(state& mine, int depth) {
  if (mine.runs == 0) return;  // never
  volatile char room[256] = {};
  room[0] = static_cast<char>(depth);
  if (depth == 0) machine::begin_anew(mine.start, finish, &mine);
  descend(mine, depth - 1);
  room[1] = room[0];
}

void finish(void* raw) {
  auto& mine = *static_cast<state*>(raw);
  if (++mine.runs < mine.last) descend(mine, 10);
  if (mine.throws) throw std::runtime_error("the last run");
}

void run_once(void* raw) {
  auto& mine = *static_cast<state*>(raw);
  ++mine.runs;
  if (mine.last > 1) descend(mine, 3);
}

TEST(CallStart, AFunctionThatDoesNotBeginAnewReturns) {
  state mine;
  mine.last = 1;
  machine::call_from(mine.start, run_once, &mine);
  EXPECT_EQ(mine.runs, 1);
}

TEST(CallStart, TheLastOfManyRunsReturnsToTheCaller) {
  state mine;
  mine.last = 1'000;
  machine::call_from(mine.start, run_once, &mine);
  EXPECT_EQ(mine.runs, 1'000);
}

TEST(CallStart, AnExceptionOfTheLastRunComesOut) {
  for (const int runs : {2, 3, 100}) {
    state mine;
    mine.last = runs;
    mine.throws = true;
    EXPECT_THROW(machine::call_from(mine.start, run_once, &mine), std::runtime_error) << runs;
    EXPECT_EQ(mine.runs, runs);
  }
}

struct counts_its_end {
  int& ends;
  ~counts_its_end() { ++ends; }
};

/// Frames of the caller are unwound as always.
[[gnu::noinline]] void call_with_guard(state& mine, int& ends) {
  const counts_its_end guard{ends};
  machine::call_from(mine.start, run_once, &mine);
}

TEST(CallStart, AnExceptionDestroysWhatItsCallersHold) {
  int ends = 0;
  state mine;
  mine.last = 5;
  mine.throws = true;
  EXPECT_THROW(call_with_guard(mine, ends), std::runtime_error);
  EXPECT_EQ(ends, 1);
}

/// So many values that each preserved register holds one.
template <class Number>
[[gnu::noinline]] std::array<Number, 12> values_across(state& mine, Number first) {
  Number a = first, b = first + 1, c = first + 2, d = first + 3, e = first + 4, f = first + 5, g = first + 6,
         h = first + 7, i = first + 8, j = first + 9, k = first + 10, l = first + 11;
  machine::call_from(mine.start, run_once, &mine);
  return {a, b, c, d, e, f, g, h, i, j, k, l};
}

TEST(CallStart, ItsCallersVariablesKeepTheirValues) {
  state mine;
  mine.last = 10;
  const std::array<long, 12> whole = values_across<long>(mine, mine.last);
  mine.runs = 0;
  const std::array<double, 12> real = values_across<double>(mine, mine.last);
  for (unsigned i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(whole[i], 10 + static_cast<long>(i));
    EXPECT_EQ(real[i], 10 + static_cast<double>(i));
  }
}

/// A call within a call, by another start.
TEST(CallStart, CallsNest) {
  struct outer {
    state mine;
    state inner;
  } both;
  both.mine.last = 2;
  both.inner.last = 4;
  const auto run_inner = [](void* raw) {
    auto& all = *static_cast<outer*>(raw);
    machine::call_from(all.inner.start, run_once, &all.inner);
    machine::begin_anew(all.mine.start, finish, &all.mine);
  };
  both.mine.runs = 1;
  machine::call_from(both.mine.start, run_inner, &both);
  EXPECT_EQ(both.inner.runs, 4);
  EXPECT_EQ(both.mine.runs, 2);
}

}  // namespace

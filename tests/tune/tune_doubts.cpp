// SPDX-License-Identifier: Apache-2.0
// Why a verdict may be worth nothing: one sentence for each kind of doubt, and none without a reason.
#include "tune/doubts.hpp"

#include <gtest/gtest.h>

namespace tune = txsync::tune;

namespace {

constexpr double long_run = 0.5;

struct said {
  explicit said(bool has_metric = false) : by("mine", has_metric) {}
  said& run(const char* configuration, const char* output, int status = 0, double seconds = long_run) {
    by.add({.configuration = configuration, .seconds = seconds, .exit_status = status, .output = output});
    return *this;
  }
  /// All sentences as one text.
  std::string all() const {
    std::string text;
    for (const std::string& one : by.sentences()) text += one + "\n";
    return text;
  }
  std::string begin_of_the_only_one(std::size_t length) const {
    return by.sentences().size() == 1 ? by.sentences().front().substr(0, length) : "not one: " + all();
  }
  tune::doubts by;
};

void expect_begin(const said& what, const std::string& begin) {
  EXPECT_EQ(what.begin_of_the_only_one(begin.size()), begin);
}

}  // namespace

TEST(doubts, none_where_all_runs_are_alike) {
  EXPECT_EQ(said().all(), "");
  EXPECT_EQ(said().run("mine", "a\nb\n").run("ticket", "b\na\n").run("mine", "a\nb").all(), "");
}

TEST(doubts, waits_that_nobody_counted) {
  said what;
  what.by.add({.configuration = "mine", .seconds = long_run, .output = "", .without_waits = "at bare"});
  EXPECT_EQ(what.all(),
            "single sites are tried where threads are seen to wait, and not all waits were counted: at bare\n");
}

TEST(doubts, an_output_that_differs_from_run_to_run) {
  expect_begin(said().run("mine", "found it").run("mine", "found nothing").run("ticket", "found it"),
               "the program's output differs, and not only in its numbers, from run to run:");
}

TEST(doubts, an_output_that_differs_between_policies) {
  expect_begin(said().run("mine", "found it").run("mine", "found it").run("ticket", "found nothing"),
               "the program's output differs, and not only in its numbers, between 'mine' and 'ticket':");
  expect_begin(said().run("mine", "one line").run("ticket", "one line\none line"),
               "the program's output differs, and not only in its numbers, between 'mine' and 'ticket':");
}

TEST(doubts, numbers_differ_by_themselves) {
  const auto numbers = [](bool has_metric, const char* other) {
    return said(has_metric)
        .run("mine", "worked 3000 in 1.5 s")
        .run("mine", "worked 3000 in 1.5 s")
        .run("ticket", other);
  };
  expect_begin(numbers(false, "worked  17 in 1.5 s"),
               "numbers in the program's output differ between 'mine' and 'ticket':");
  EXPECT_EQ(numbers(true, "worked  17 in 2e-3 s").all(), "") << "the metric is one of them";
  expect_begin(said().run("mine", "took 1.25 s").run("mine", "took 970e-3 s").run("mine", "took 10:04:30 s"),
               "numbers in the program's output differ from run to run:");
}

TEST(doubts, what_numbers_are) {
  for (const char* number : {"1", "0", "0x7ffd_", "12.5", "1,000", "1e9", "2.5e-07", "3E", "0xg", "10-11"}) {
    const std::string output = std::string("it has ") + number + ";";
    const bool all_of_it = std::string("_Eg").find(output[output.size() - 2]) == std::string::npos;
    EXPECT_EQ(said(true).run("mine", "it has 7;").run("ticket", output.c_str()).all().empty(), all_of_it) << number;
  }
}

TEST(doubts, exit_statuses_that_differ) {
  expect_begin(
      said().run("mine", "x").run("mine", "x").run("ticket", "y", 3).run("mutex", "x"),
      "the program's exit status differs from run to run: 3 in 1 run, the first of 'ticket'; 0 in all others.");
  expect_begin(
      said().run("mine", "x").run("mine", "", 139).run("mine", "", 139).run("a", "x").run("b", "x"),
      "the program's exit status differs from run to run: 139 in 2 runs, the first of 'mine'; 0 in all others.");
}

TEST(doubts, runs_that_are_short) {
  expect_begin(said().run("mine", "x", 0, 0.002).run("mine", "x", 0, 0.0022).run("mine", "x", 0, 1),
               "a run takes 2.2 ms,");
  EXPECT_EQ(said().run("mine", "x", 0, 0.02).run("ticket", "x", 0, 0.001).all(), "")
      << "only what the user has decides";
}

TEST(doubts, an_input_that_was_not_there) {
  said some;
  some.by.add({.configuration = "mine", .seconds = long_run, .output = "x", .read_in_vain = true});
  expect_begin(some, "the program reads its standard input, which is empty:");
  EXPECT_NE(some.all().find("--input FILE"), std::string::npos);
}

TEST(doubts, programs_within_that_no_policy_reaches) {
  said some;
  some.by.add(
      {.configuration = "ticket", .seconds = long_run, .output = "x", .without_library = {"./a is a static program"}});
  expect_begin(some, "under every policy, a program that it starts keeps its own locks or does not run: ./a is");
}

TEST(doubts, runs_that_took_too_long_and_outputs_that_were_cut_are_not_compared) {
  said some;
  some.run("mine", "x").run("mine", "x");
  some.by.add({.configuration = "ticket", .seconds = 0.001, .exit_status = 143, .output = "", .timed_out = true});
  some.by.add({.configuration = "ticket", .seconds = long_run, .output = "tail", .output_cut = true});
  EXPECT_EQ(some.all(), "");
}

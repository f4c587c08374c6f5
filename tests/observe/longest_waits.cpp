// SPDX-License-Identifier: Apache-2.0
// The longest wait of a site: among waits that ended, that ended at a deadline, and that have not ended.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <txsync/machine/cpu.hpp>
#include <txsync/observe/counters.hpp>

#include "observe/blocks.hpp"
#include "site_totals.hpp"

namespace machine = txsync::machine;
namespace observe = txsync::observe;

namespace {

std::uint64_t cycles_of(std::uint64_t ns) {
  return static_cast<std::uint64_t>(static_cast<double>(ns) * static_cast<double>(machine::cycles_per_second()) / 1e9);
}

void expect_near(std::uint64_t ns, std::uint64_t expected) {
  EXPECT_NEAR(static_cast<double>(ns), static_cast<double>(expected), static_cast<double>(expected) / 1000);
}

/// A source without room for another block, that counts how often it was asked.
int times_asked = 0;
observe::block_source::taken take_none(std::size_t) noexcept {
  ++times_asked;
  return {};
}
constexpr observe::block_source no_room = {take_none, nullptr, nullptr};

}  // namespace

TEST(longest_waits, is_that_of_the_longest) {
  static constinit txsync::site place{"longest"};
  for (const std::uint64_t ns : {2'000'000, 9'000'000, 3'000'000})
    observe::detail::waited(place.id(), nullptr, cycles_of(ns));
  expect_near(totals_of(place).max_wait_ns, 9'000'000);
  EXPECT_EQ(totals_of(place).contended, 3u);
}

TEST(longest_waits, one_that_ended_at_a_deadline_is_no_acquisition) {
  static constinit txsync::site place{"deadline"};
  observe::detail::wait_timed_out(place.id(), nullptr, cycles_of(5'000'000));
  EXPECT_EQ(totals_of(place).unfinished_wait_ns, 0u);
  expect_near(totals_of(place).max_wait_ns, 5'000'000);
  EXPECT_EQ(totals_of(place).failed_waits, 1u);
  expect_near(totals_of(place).failed_wait_ns, 5'000'000);
  const observe::site_totals before = totals_of(place);
  observe::detail::wait_timed_out(place.id(), nullptr, cycles_of(1'000'000));
  EXPECT_EQ(observe::difference(totals_of(place), before).failed_waits, 1u);
  expect_near(observe::difference(totals_of(place), before).failed_wait_ns, 1'000'000);
  EXPECT_EQ(totals_of(place).contended, 0u);
  EXPECT_EQ(totals_of(place).wait_ns, 0u);
}

TEST(longest_waits, one_that_has_not_ended_is_seen) {
  static constinit txsync::site place{"unfinished"};
  observe::detail::wait_timed_out(place.id(), nullptr, cycles_of(500'000'000));
  const std::uint64_t start = observe::detail::wait_begins(place.id(), nullptr);
  while (machine::cycles() - start < cycles_of(1'000'000)) machine::relax();
  EXPECT_EQ(totals_of(place).unfinished_waits, 1u);
  EXPECT_EQ(totals_of(place).failed_waits, 2u);
  const observe::site_totals during = totals_of(place);
  EXPECT_GE(during.unfinished_wait_ns, 990'000u);
  expect_near(during.failed_wait_ns - during.unfinished_wait_ns, 500'000'000);
  // Of a wait that began before, the part since then.
  const observe::site_totals since = observe::difference(totals_of(place), during);
  EXPECT_EQ(since.unfinished_wait_ns, since.failed_wait_ns);
  observe::detail::waited(place.id(), nullptr, cycles_of(10));
  EXPECT_EQ(totals_of(place).unfinished_waits, 0u);
  EXPECT_EQ(totals_of(place).unfinished_wait_ns, 0u);
  EXPECT_EQ(totals_of(place).failed_waits, 1u);
  expect_near(totals_of(place).failed_wait_ns, 500'000'000);
}

TEST(longest_waits, of_what_lies_between_two_snapshots) {
  static constinit txsync::site place{"between"};
  observe::detail::waited(place.id(), nullptr, cycles_of(8'000'000));
  const observe::site_totals before = totals_of(place);
  EXPECT_EQ(observe::difference(totals_of(place), before).max_wait_ns, 0u);
  observe::detail::waited(place.id(), nullptr, cycles_of(1'000'000));
  EXPECT_NEAR(static_cast<double>(observe::difference(totals_of(place), before).max_wait_ns), 1e6, 0.13e6);
  observe::detail::waited(place.id(), nullptr, cycles_of(20'000'000));
  expect_near(observe::difference(totals_of(place), before).max_wait_ns, 20'000'000);
}

// To look for a block takes a walk along those that there are, and waits come by the thousand.
TEST(WithoutRoom, AThreadAsksSeldom) {
  const pid_t child = fork();
  if (child == 0) {
    observe::forget_blocks();
    observe::use_blocks_of(no_room);
    for (int i = 0; i < 10'000; ++i) observe::detail::waited(1, nullptr, 100);
    _exit(times_asked);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 3) << "of 10,000";
}

// SPDX-License-Identifier: Apache-2.0
// Waits that ended while the thread spun are counted as all others, each in the block that is the thread's by then.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include <txsync/observe/counters.hpp>

#include "blocks_of_disk.hpp"
#include "observe/blocks.hpp"
#include "site_totals.hpp"

namespace observe = txsync::observe;

namespace {

/// The exit status of a child that does that.
template <class Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    observe::forget_blocks();
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST(SpunWaits, AreCountedAtTheirSites) {
  static constinit txsync::site one{"spun.one"};
  static constinit txsync::site other{"spun.other"};
  for (int i = 0; i < 3; ++i) {
    observe::detail::spun(one.id(), 1'000);
    observe::detail::spun(one.id(), 3'000);
    observe::detail::spun(other.id(), 500);
    observe::detail::waited(one.id(), nullptr, 2'000);
  }
  EXPECT_EQ(totals_of(one).contended, 9u);
  EXPECT_EQ(totals_of(one).wait.count(), 9u);
  EXPECT_EQ(totals_of(other).contended, 3u);
  EXPECT_EQ(totals_of(one).failed_waits, 0u);
  const auto ns_of_other = static_cast<double>(totals_of(other).wait_ns);
  EXPECT_NEAR(static_cast<double>(totals_of(one).wait_ns), 12 * ns_of_other, ns_of_other / 10) << "18,000 and 1,500";
  EXPECT_NEAR(static_cast<double>(totals_of(one).max_wait_ns), 2 * ns_of_other, ns_of_other / 10) << "3,000";
}

TEST(SpunWaits, AreNotCountedWithoutASite) {
  static constinit txsync::site place{"spun.before"};
  observe::detail::spun(place.id(), 1'000);
  observe::detail::spun(0, 1'000);
  EXPECT_EQ(totals_of(place).contended, 1u);
}

TEST(SpunWaits, OfThreadsThatEndAreKept) {
  static constinit txsync::site place{"spun.threads"};
  for (int i = 0; i < 5; ++i) {
    std::thread([] {
      observe::detail::spun(place.id(), 1'000);
      observe::detail::spun(place.id(), 1'000);
    }).join();
  }
  EXPECT_EQ(totals_of(place).contended, 10u);
}

TEST(SpunWaits, OfAChildAreItsOwn) {
  static constinit txsync::site place{"spun.fork"};
  observe::detail::spun(place.id(), 1'000);
  EXPECT_EQ(in_child([] {
              observe::detail::spun(place.id(), 1'000);
              observe::detail::spun(place.id(), 1'000);
              return static_cast<int>(totals_of(place).contended);
            }),
            2);
  EXPECT_EQ(totals_of(place).contended, 1u);
}

TEST(SpunWaits, WithoutRoomAreLeftOutUntilThereIsRoom) {
  static constinit txsync::site known{"spun.known"};
  static constinit txsync::site late{"spun.late"};
  EXPECT_EQ(in_child([] {
              observe::use_blocks_of(blocks_of_disk);
              observe::detail::spun(known.id(), 1'000);
              disk_is_full = true;
              observe::detail::spun(late.id(), 1'000);
              observe::detail::spun(known.id(), 1'000);
              disk_is_full = false;
              observe::detail::spun(late.id(), 1'000);
              return static_cast<int>(10 * totals_of(known).contended + totals_of(late).contended);
            }),
            21);
}

// SPDX-License-Identifier: Apache-2.0
// Counters in a file whose pages exist before they are written. So the counts of a site stay writable when the disk is
// full, whatever it has counted.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>

#include "blocks_of_disk.hpp"
#include "observe/blocks.hpp"
#include "observe/thread_block.hpp"

namespace observe = txsync::observe;

namespace {

constexpr std::uint32_t site_id = 1;

/// Whether a thread that has counted by `count` finds its counters again on a full disk. In a child: where blocks come
/// from is said once in a process.
template <class Count>
bool finds_counters_again(Count count) {
  const pid_t child = fork();
  if (child == 0) {
    observe::forget_blocks();
    observe::use_blocks_of(blocks_of_disk);
    observe::thread_block* const block = observe::block_of_thread();
    observe::site_counters* const counters = block != nullptr ? observe::counters_of(*block, site_id) : nullptr;
    if (counters == nullptr) _exit(2);
    count(*counters);
    disk_is_full = true;
    _exit(observe::counters_of(*block, site_id) == counters ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) < 2) << "no counters in the first place: " << status;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST(ReservedCounters, OfASiteThatHasCountedNothingStay) {
  EXPECT_TRUE(finds_counters_again([](observe::site_counters&) {}));
}

/// To look at a page that nobody has written takes room on the disk, too: here the look ends the child.
TEST(ReservedCounters, AreNotLookedAtBeforeThereIsRoom) {
  const pid_t child = fork();
  if (child == 0) {
    observe::forget_blocks();
    observe::use_blocks_of(blocks_of_disk);
    observe::thread_block* const block = observe::block_of_thread();
    if (block == nullptr) _exit(2);
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = (reinterpret_cast<std::uintptr_t>(block) + observe::offset_of(10) + page - 1) / page * page;
    if (mprotect(reinterpret_cast<void*>(begin), 4 * page, PROT_NONE) != 0) _exit(3);
    disk_is_full = true;
    const auto site = static_cast<std::uint32_t>(11 + page / sizeof(observe::site_counters));
    _exit(observe::counters_of(*block, site) == nullptr ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(ReservedCounters, OfALockStay) {
  EXPECT_TRUE(finds_counters_again([](observe::site_counters& site) { site.acquisitions.add(1); }));
  EXPECT_TRUE(finds_counters_again([](observe::site_counters& site) { site.contended.add(1); }));
  EXPECT_TRUE(finds_counters_again([](observe::site_counters& site) { site.failed_waits.add(1); }));
  EXPECT_TRUE(finds_counters_again([](observe::site_counters& site) { site.condition_waits.add(1); }));
}

TEST(ReservedCounters, OfAttemptsAndWarmUpsStay) {
  EXPECT_TRUE(finds_counters_again([](observe::site_counters& site) { site.attempts.begun.add(1); }));
  EXPECT_TRUE(finds_counters_again([](observe::site_counters& site) { site.warm_ups.runs.add(1); }));
}

TEST(ReservedCounters, OfABlockThatNeverCommitsStay) {
  EXPECT_TRUE(finds_counters_again([](observe::site_counters& site) { site.transactions.waits.add(1); }));
  for (std::size_t cause = 0; cause < txsync::abort_cause_count; ++cause) {
    EXPECT_TRUE(finds_counters_again([&](observe::site_counters& site) { site.transactions.aborts[cause].add(1); }))
        << to_string(static_cast<txsync::abort_cause>(cause));
  }
}

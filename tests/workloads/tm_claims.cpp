// SPDX-License-Identifier: Apache-2.0
// What ./dev bench tm claims from its cells: D2-2.
#include "tm/claims.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

namespace b = txsync::benchmarks;
namespace observe = txsync::observe;
using txsync::workloads::subject;

/// A table that was measured in six rounds.
class table {
 public:
  table() {
    for (const char* const name : {"tm_auto", "tm_dctl", "tm_hydctl", "std::mutex", "libitm"}) {
      const bool is_peer = name[0] != 't';
      request_.subjects.push_back({.name = name, .peer = is_peer, .is_algorithm = name[0] != 's', .summary = ""});
    }
    for (const char* const name : {"bank-50", "list-20", "mixed-inside", "mixed-inside hsh", "mixed-inside sss"})
      request_.sections.push_back({name, nullptr, {}});
    request_.threads = {2, 4};
  }

  /// Windows of this throughput; of whole runs it is 1. With a throughput of 0 there were too few windows.
  void windows(unsigned section, const char* subject, double throughput) {
    b::cell& made = add(section, 2, subject, 1);
    made.undisturbed.throughput.assign(rounds, throughput);
    made.undisturbed.share.assign(rounds, 0.5);
    made.undisturbed.line_before_ns.assign(rounds, 60);
    made.undisturbed.line_after_ns.assign(rounds, 60);
  }
  void whole(unsigned section, const char* subject, double throughput) { add(section, 4, subject, throughput); }

  /// The claims of D2-2 with these words in them.
  std::vector<observe::claim> claims(const std::string& words) const {
    std::vector<observe::claim> all = b::make_tm_claims(request_, cells_);
    std::erase_if(
        all, [&](const observe::claim& one) { return one.id != "D2-2" || one.words.find(words) == std::string::npos; });
    return all;
  }

 private:
  static constexpr std::size_t rounds = 6;

  b::cell& add(unsigned section, unsigned threads, const std::string& name, double throughput) {
    const auto found = std::ranges::find_if(request_.subjects, [&](const subject& one) { return one.name == name; });
    cells_.push_back({section, threads, static_cast<std::size_t>(found - request_.subjects.begin())});
    cells_.back().throughput.assign(rounds, throughput);
    return cells_.back();
  }

  b::request request_;
  std::vector<b::cell> cells_;
};

TEST(TmClaims, CompareWindowsWithTheMutex) {
  table seen;
  seen.windows(0, "tm_dctl", 26);
  seen.windows(0, "std::mutex", 10);
  const auto claims = seen.claims("dctl to std::mutex (windows, CPUs far apart)");
  ASSERT_EQ(claims.size(), 1U);
  EXPECT_EQ(claims[0].value, 2.6);
  EXPECT_EQ(claims[0].goal, 2.5);
  EXPECT_EQ(claims[0].outcome, observe::outcome::holds);
}

TEST(TmClaims, AreUndecidedWithoutWindows) {
  table seen;
  seen.windows(0, "tm_dctl", 26);
  seen.windows(0, "std::mutex", 0);
  const auto claims = seen.claims("dctl to std::mutex (too few undisturbed windows)");
  ASSERT_EQ(claims.size(), 1U);
  EXPECT_EQ(claims[0].outcome, observe::outcome::undecided);
  EXPECT_EQ(claims[0].from, (std::vector<std::size_t>{0, 1})) << "more rounds are measured of these";
}

TEST(TmClaims, CompareAutoWithOursAndWithLibitm) {
  table seen;
  seen.windows(0, "tm_auto", 9);
  seen.windows(0, "tm_dctl", 10);
  seen.windows(0, "libitm", 18);
  seen.whole(1, "tm_auto", 10);
  seen.whole(1, "tm_dctl", 8);
  seen.whole(1, "std::mutex", 100);
  const auto own = seen.claims("auto to our best algorithm, ");
  ASSERT_EQ(own.size(), 4U) << "two cells, their mean, and those that are behind";
  EXPECT_EQ(own[0].words, "bank-50, 2 threads: auto to our best algorithm, tm_dctl (windows, CPUs far apart)");
  EXPECT_EQ(own[1].words, "list-20, 4 threads: auto to our best algorithm, tm_dctl (whole runs)");
  EXPECT_NEAR(own[2].value, 1.0607, 1e-4);  // the square root of 0.9 times 1.25
  EXPECT_EQ(own[2].outcome, observe::outcome::holds);
  EXPECT_EQ(own[3].value, 1) << "0.9";
  EXPECT_EQ(own[3].outcome, observe::outcome::missed);
  const auto libitm = seen.claims("auto to libitm");
  ASSERT_EQ(libitm.size(), 3U);
  EXPECT_EQ(libitm[0].value, 0.5);
}

TEST(TmClaims, HoldForAllCellsOnlyIfEachHasWindows) {
  table seen;
  seen.windows(0, "tm_auto", 10);
  seen.windows(0, "tm_dctl", 10);
  EXPECT_EQ(seen.claims("those of 1 cells").at(0).outcome, observe::outcome::holds);
  seen.windows(1, "tm_auto", 10);
  seen.windows(1, "tm_dctl", 0);
  EXPECT_EQ(seen.claims("geometric mean of 1 cells (1 more").at(0).outcome, observe::outcome::undecided);
  EXPECT_EQ(seen.claims("those of 1 cells (1 more").at(0).outcome, observe::outcome::undecided);
}

TEST(TmClaims, CompareMixedBlocksWithEveryAssignment) {
  table seen;
  seen.whole(2, "tm_auto", 9);
  seen.whole(2, "tm_dctl", 5);
  seen.whole(3, "tm_hydctl", 10);
  seen.whole(4, "tm_hydctl", 4);
  const auto claims = seen.claims("auto to");
  ASSERT_EQ(claims.size(), 1U) << "mixed blocks are no cell of the other claims";
  EXPECT_NE(claims[0].words.find("tm_hydctl with mixed-inside hsh"), std::string::npos) << claims[0].words;
  EXPECT_EQ(claims[0].value, 0.9);
  EXPECT_EQ(claims[0].outcome, observe::outcome::missed);
}

}  // namespace

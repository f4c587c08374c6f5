// SPDX-License-Identifier: Apache-2.0
// The opacity checker that explorations use, by histories that are right and wrong.
#include <gtest/gtest.h>

#include <vector>

#include "explorations/opacity.hpp"

namespace {

using txsync::explorations::event;
using txsync::explorations::opacity_fault;
using what = event::kind;

constexpr event asks(unsigned char thread) { return {what::asks, thread, 0, 0}; }
constexpr event begins(unsigned char thread) { return {what::begins, thread, 0, 0}; }
constexpr event reads(unsigned char thread, unsigned char place, unsigned value) {
  return {what::reads, thread, place, value};
}
constexpr event writes(unsigned char thread, unsigned char place, unsigned value) {
  return {what::writes, thread, place, value};
}
constexpr event commits(unsigned char thread) { return {what::commits, thread, 0, 0}; }
constexpr event gives_up(unsigned char thread) { return {what::gives_up, thread, 0, 0}; }

using history = std::vector<event>;

TEST(Opacity, HoldsForOneAfterTheOther) {
  EXPECT_EQ(opacity_fault(history{}), nullptr);
  EXPECT_EQ(opacity_fault(history{asks(0), begins(0), reads(0, 0, 0), writes(0, 0, 1), reads(0, 0, 1), commits(0),
                                  asks(1), begins(1), reads(1, 0, 1), writes(1, 1, 2), commits(1)}),
            nullptr);
}

TEST(Opacity, HoldsWhereAnotherOrderThanThatOfTheCommitsExplainsIt) {
  // The second one commits first, but the first one has seen none of it.
  EXPECT_EQ(opacity_fault(history{asks(0), begins(0), reads(0, 0, 0), asks(1), begins(1), writes(1, 0, 1), commits(1),
                                  reads(0, 1, 0), commits(0)}),
            nullptr);
}

TEST(Opacity, IsBrokenByALostUpdate) {
  EXPECT_NE(opacity_fault(history{asks(0), begins(0), reads(0, 0, 0), asks(1), begins(1), reads(1, 0, 0),
                                  writes(1, 0, 1), commits(1), writes(0, 0, 2), commits(0)}),
            nullptr);
}

TEST(Opacity, IsBrokenByWriteSkew) {
  const history skewed{asks(0),        begins(0),      asks(1),         begins(1),       reads(0, 0, 0), reads(0, 1, 0),
                       reads(1, 0, 0), reads(1, 1, 0), writes(0, 0, 1), writes(1, 1, 2), commits(0),     commits(1)};
  EXPECT_STREQ(opacity_fault(skewed), "no order of the transactions explains what they saw");
  // One of them did not commit: then there is no fault.
  history one_gave_up = skewed;
  one_gave_up.back() = gives_up(1);
  EXPECT_EQ(opacity_fault(one_gave_up), nullptr);
}

TEST(Opacity, IsBrokenByATornReadOfAnAttemptThatAborts) {
  const history torn{asks(0),         begins(0),       reads(0, 0, 0), asks(1),        begins(1),
                     writes(1, 0, 1), writes(1, 1, 2), commits(1),     reads(0, 1, 2), begins(0),
                     reads(0, 0, 1),  reads(0, 1, 2),  commits(0)};
  EXPECT_STREQ(opacity_fault(torn), "an attempt that did not commit saw what was never so");
}

TEST(Opacity, IsBrokenByAReadOfWhatNeverCommits) {
  const history dirty{asks(0),        begins(0), writes(0, 0, 1), asks(1),    begins(1),
                      reads(1, 0, 1), begins(1), reads(1, 0, 0),  commits(1), gives_up(0)};
  EXPECT_NE(opacity_fault(dirty), nullptr);
}

TEST(Opacity, IsBrokenByAStaleReadAgainstRealTime) {
  EXPECT_NE(opacity_fault(history{asks(0), begins(0), writes(0, 0, 1), commits(0), asks(1), begins(1), reads(1, 0, 0),
                                  commits(1)}),
            nullptr);
  // Of an attempt that aborts too; and it may see what was so when the one before it ended.
  EXPECT_NE(opacity_fault(history{asks(0), begins(0), writes(0, 0, 1), commits(0), asks(1), begins(1), reads(1, 0, 0),
                                  begins(1), reads(1, 0, 1), commits(1)}),
            nullptr);
  EXPECT_EQ(opacity_fault(history{asks(1), asks(0), begins(0), writes(0, 0, 1), commits(0), begins(1), reads(1, 0, 0),
                                  begins(1), reads(1, 0, 1), commits(1)}),
            nullptr);
}

TEST(Opacity, IsBrokenByAReadOfTheFuture) {
  EXPECT_NE(opacity_fault(history{asks(0), begins(0), reads(0, 0, 7), begins(0), commits(0), asks(1), begins(1),
                                  writes(1, 0, 7), commits(1)}),
            nullptr);
}

TEST(Opacity, IsBrokenWhereTwoAbortedAttemptsSeeTimeGoBack) {
  const auto with = [](unsigned first, unsigned second) {
    return history{asks(0),   begins(0),          asks(1),   begins(1),           writes(0, 0, 1),
                   begins(1), reads(1, 0, first), begins(1), reads(1, 0, second), commits(0),
                   begins(1), reads(1, 0, 1),     commits(1)};
  };
  EXPECT_EQ(opacity_fault(with(0, 0)), nullptr);
  EXPECT_EQ(opacity_fault(with(0, 1)), nullptr);
  EXPECT_NE(opacity_fault(with(1, 0)), nullptr);
}

TEST(Opacity, IsBrokenByReadsThatDifferInOneAttempt) {
  EXPECT_STREQ(opacity_fault(history{asks(0), begins(0), reads(0, 0, 0), asks(1), begins(1), writes(1, 0, 1),
                                     commits(1), reads(0, 0, 1), commits(0)}),
               "two reads of one place in one attempt differ");
  EXPECT_STREQ(opacity_fault(history{asks(0), begins(0), writes(0, 0, 1), reads(0, 0, 0), commits(0)}),
               "a transaction did not see its own write");
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// The conformance suite: one thread at a time, at 1, 2, 4 and 16 threads.
#include <gtest/gtest.h>

#include "every_lock.hpp"
#include "scenarios/exclusion.hpp"

namespace {

using namespace conformance;

/// Compiled for each lock's own type: what the compiler makes of the fast path is the question here.
struct exclusion_of {
  const char* name;
  bool strictly_fifo;
  decltype(&exclusion<std::mutex>) by_lock;
  decltype(&mixed_exclusion<std::mutex>) by_both;
};
template <class Lock>
constexpr exclusion_of typed_exclusion = {promises<Lock>::name, promises<Lock>::strictly_fifo, exclusion<Lock>,
                                          mixed_exclusion<Lock>};

void PrintTo(const exclusion_of* scenarios, std::ostream* out) { *out << scenarios->name; }

class Exclusion : public testing::TestWithParam<const exclusion_of*> {
 protected:
  unsigned each(unsigned threads, unsigned base) const { return rounds_each(lock.strictly_fifo, threads, base); }
  const exclusion_of& lock = *GetParam();
};
INSTANTIATE_TEST_SUITE_P(EveryLock, Exclusion,
                         one_of_each(exclusive_locks(), []<class Lock>() { return &typed_exclusion<Lock>; }),
                         case_name());

TEST_P(Exclusion, OneThreadAtATime) {
  for (const unsigned threads : team_sizes) {
    SCOPED_TRACE(threads);
    EXPECT_EQ(lock.by_lock(threads, each(threads, 40'000), inside::nothing, usual_patience), "");
    EXPECT_EQ(lock.by_lock(threads, each(threads, 8'000), inside::work, usual_patience), "");
    EXPECT_EQ(lock.by_lock(threads, each(threads, 8'000), inside::yield, usual_patience), "");
    EXPECT_EQ(lock.by_lock(threads, each(threads, 240), inside::sleep, usual_patience), "");
  }
}

TEST_P(Exclusion, OneThreadAtATimeByTryLockToo) {
  for (const unsigned threads : team_sizes) {
    SCOPED_TRACE(threads);
    EXPECT_EQ(lock.by_both(threads, each(threads, 20'000), inside::nothing, usual_patience), "");
    EXPECT_EQ(lock.by_both(threads, each(threads, 8'000), inside::work, usual_patience), "");
    EXPECT_EQ(lock.by_both(threads, each(threads, 240), inside::sleep, usual_patience), "");
  }
}

class SectionsOf : public OnEveryLock {};
INSTANTIATE_TEST_SUITE_P(EveryLock, SectionsOf, every_lock(), case_name());

TEST_P(SectionsOf, ExceptionsLeaveItFree) {
  EXPECT_EQ(exceptions_unlock<any_lock>(1, rounds(400)), "");
  EXPECT_EQ(exceptions_unlock<any_lock>(4, rounds(200)), "");
}

TEST_P(SectionsOf, TwoAtOnceWithoutDeadlock) {
  EXPECT_EQ(two_locks<any_lock>(2, rounds(2'000)), "");
  EXPECT_EQ(two_locks<any_lock>(4, rounds(400)), "");
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// What a listener is told of attempts, on the scripted machine.
#include <gtest/gtest.h>

#include <vector>

#include <machine/scripted/script.hpp>
#include <speculate/scoped_site.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/mutex.hpp>
#include <txsync/observe/events.hpp>
#include <txsync/speculate/elided.hpp>

#include "unlearnt.hpp"

namespace {

namespace machine = txsync::machine;
namespace observe = txsync::observe;
using machine::attempt_status;
using observe::event;
using observe::event_kind;
using txsync::abort_cause;
using txsync::elided;
using txsync::elision_policy;
using txsync::scoped_site;
using txsync::script::machine_script;
using txsync::script::plan;

constexpr std::uint32_t met_another = attempt_status::conflict_bit | attempt_status::retry_bit;
constexpr elision_policy three_attempts{.attempts = 3, .adapts = txsync::adaptation::none};

constinit txsync::site_with_policy told_place{"attempt_events.told", three_attempts};

// Not in the listener: on the scripted machine an abort undoes the stack only.
std::vector<event> told;
bool was_in_attempt = false;

void keep_event(const event& what) noexcept {
  told.push_back(what);
  was_in_attempt = was_in_attempt || machine::active();
}

class AttemptEvents : public testing::Test {
 protected:
  AttemptEvents() {
    have_unlearnt_rtm(script);
    told.clear();
    was_in_attempt = false;
    observe::set_listener(keep_event);
  }
  ~AttemptEvents() override {
    observe::set_listener(nullptr);
    EXPECT_FALSE(was_in_attempt);
  }

  template <class Lock>
  static void section(Lock& lock) {
    lock.lock();
    lock.unlock();
  }
  static void expect_told(std::initializer_list<event_kind> kinds) {
    ASSERT_EQ(told.size(), kinds.size());
    std::size_t at = 0;
    for (const event_kind kind : kinds) EXPECT_EQ(told[at++].kind, kind) << "event " << at;
  }

  machine_script script;
};

TEST_F(AttemptEvents, NothingIsToldOfAnAttemptThatCommits) {
  elided<txsync::tatas_lock> lock(told_place);
  section(lock);
  EXPECT_EQ(script.counted().commits, 1u);
  EXPECT_TRUE(told.empty());
}

TEST_F(AttemptEvents, EachAbortAndTheFallbackHaveTheirCause) {
  elided<txsync::tatas_lock> lock(told_place);
  script.on_begin(plan::aborts(met_another));
  script.on_begin(plan::aborts(attempt_status::capacity_bit));
  section(lock);
  expect_told({event_kind::abort, event_kind::abort, event_kind::fallback});
  EXPECT_EQ(told[0].cause, abort_cause::conflict);
  EXPECT_EQ(told[1].cause, abort_cause::capacity);
  EXPECT_EQ(told[2].cause, abort_cause::capacity);
  for (const event& one : told) {
    EXPECT_EQ(one.site_id, told_place.id());
    EXPECT_STREQ(one.site_name, "attempt_events.told");
    // The lock within it.
    EXPECT_GE(one.lock, static_cast<const void*>(&lock));
    EXPECT_LT(one.lock, static_cast<const void*>(&lock + 1));
  }
}

TEST_F(AttemptEvents, AnAbortBeforeACommitHasNoFallback) {
  elided<txsync::tatas_lock> lock(told_place);
  script.on_begin(plan::aborts(met_another));
  section(lock);
  expect_told({event_kind::abort});
  EXPECT_EQ(script.counted().commits, 1u);
}

TEST_F(AttemptEvents, SitesThatCountNothingAreToldToo) {
  scoped_site place(three_attempts);
  elided<txsync::mutex> lock(place);
  script.on_begin(plan::aborts(attempt_status::syscall_bit));
  section(lock);
  expect_told({event_kind::abort, event_kind::fallback});
  EXPECT_EQ(told[1].cause, abort_cause::syscall);
  EXPECT_EQ(told[1].site_id, 0u);
  EXPECT_STREQ(told[1].site_name, "");
}

TEST_F(AttemptEvents, ATryThatAbortsIsToldAsOneAttempt) {
  elided<txsync::tatas_lock> lock(told_place);
  script.on_begin(plan::aborts(met_another));
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
  expect_told({event_kind::abort, event_kind::fallback});
}

/// A wait within an attempt is not told, as the attempt is undone; the section that takes the lock is.
TEST_F(AttemptEvents, NothingIsToldWithinAnAttempt) {
  elided<txsync::tatas_lock> outer(told_place);
  txsync::mutex inner;
  inner.lock();
  outer.lock();
  const bool elided_first = machine::active();
  EXPECT_FALSE(inner.try_lock_until_ns(machine::clock_ns() + 1'000));
  outer.unlock();
  inner.unlock();
  EXPECT_FALSE(elided_first) << "goes on with the lock taken";
  std::vector<event_kind> kinds;
  for (const event& one : told) kinds.push_back(one.kind);
  ASSERT_GE(kinds.size(), 4u);
  EXPECT_EQ(kinds.front(), event_kind::abort);
  EXPECT_EQ(kinds[kinds.size() - 3], event_kind::fallback);
  EXPECT_EQ(kinds[kinds.size() - 2], event_kind::wait_begin);
  EXPECT_EQ(kinds[kinds.size() - 1], event_kind::wait_end);
}

}  // namespace

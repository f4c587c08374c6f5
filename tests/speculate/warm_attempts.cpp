// SPDX-License-Identifier: Apache-2.0
// Waiters that run their own section in always-abort attempts (always-abort paper, Figs 3 to 5), each way that an
// attempt can end (scripted machine).
#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include <machine/scripted/script.hpp>
#include <speculate/scoped_site.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/priority_tatas.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/mutex.hpp>
#include <txsync/speculate/elided.hpp>
#include <txsync/speculate/warming.hpp>

#include "../observe/site_totals.hpp"
#include "unlearnt.hpp"

namespace {

namespace machine = txsync::machine;
using machine::attempt_status;
using txsync::scoped_site;
using txsync::warm_up_policy;
using txsync::script::machine_script;
using txsync::script::plan;

constinit txsync::site_with_policy warmed_place{"warm_attempts.counted", txsync::warm_up_presets::eager};

/// What the threads of a test share: on the heap, because an abort puts back the stack.
template <class Lock>
struct shared_state {
  std::unique_ptr<scoped_site> own;
  txsync::warming<Lock> lock;
  std::atomic<bool> held{false};
  std::atomic<bool> let_go{false};
  std::atomic<unsigned> ran_ahead{0};

  explicit shared_state(const warm_up_policy& policy) : own(std::make_unique<scoped_site>(policy)), lock(*own) {}
  explicit shared_state(txsync::site& place) : lock(place) {}

  static void hold(void* raw) {
    auto& me = *static_cast<shared_state*>(raw);
    me.lock.lock();
    me.held = true;
    while (!me.let_go.load()) machine::yield();
    me.lock.unlock();
  }
};

/// A section while another thread holds the lock, which that gives up once the section has been run ahead `times`.
template <class Lock, class SiteOrPolicy>
unsigned run_behind_a_holder(SiteOrPolicy& of, unsigned times) {
  const auto shared = std::make_unique<shared_state<Lock>>(of);
  machine::thread holder;
  if (!holder.start(shared_state<Lock>::hold, shared.get())) return ~0U;
  while (!shared->held.load()) machine::yield();
  if (times == 0) shared->let_go = true;
  shared->lock.lock();
  if (txsync::is_warming()) {
    // The scripted machine undoes the stack only: this stays.
    if (++shared->ran_ahead == times) shared->let_go = true;
  }
  shared->lock.unlock();
  holder.join();
  EXPECT_TRUE(shared->let_go.load());
  return shared->ran_ahead.load();
}

template <class Lock>
class WarmAttempts : public testing::Test {
 protected:
  WarmAttempts() { have_unlearnt_rtm(script); }
  machine_script script;
};
using locks = testing::Types<txsync::tatas_lock, txsync::ticket_lock, txsync::fifo_ticket_lock, txsync::futex_mutex,
                             txsync::mutex, txsync::priority_tatas_lock>;
TYPED_TEST_SUITE(WarmAttempts, locks);

TYPED_TEST(WarmAttempts, RunTheSectionAndComeBack) {
  // Until it sees that the lock was given up, a waiter tries again.
  const unsigned ran_ahead = run_behind_a_holder<TypeParam>(txsync::warm_up_presets::eager, 1);
  EXPECT_GE(ran_ahead, 1U);
  EXPECT_LE(ran_ahead, txsync::warm_up_presets::eager.tries);
  EXPECT_FALSE(txsync::is_warming());
}

TYPED_TEST(WarmAttempts, AreCountedAtTheSiteOfTheLock) {
  const txsync::observe::site_totals before = totals_of(warmed_place);
  const std::uint64_t begins = this->script.counted().warm_begins;
  run_behind_a_holder<TypeParam>(warmed_place, 1);
  const txsync::observe::site_totals seen = txsync::observe::difference(totals_of(warmed_place), before);
  EXPECT_GE(seen.warm_ups.runs, 1u);
  EXPECT_EQ(seen.warm_ups.runs, this->script.counted().warm_begins - begins);
  EXPECT_EQ(seen.warm_ups.attempts, seen.warm_ups.runs);
  EXPECT_EQ(txsync::observe::sum_of(seen.warm_ups.aborts), seen.warm_ups.attempts);
  EXPECT_EQ(seen.attempts.attempts(), 0u);
}

TYPED_TEST(WarmAttempts, AreNotMadeWhereThereIsNobodyToWaitFor) {
  const auto shared = std::make_unique<shared_state<TypeParam>>(txsync::warm_up_presets::eager);
  shared->lock.lock();
  EXPECT_FALSE(txsync::is_warming());
  EXPECT_FALSE(machine::active());
  shared->lock.unlock();
}

TEST(WarmPolicies, MakeNoAttemptsWithoutHardware) {
  machine_script script;
  EXPECT_EQ(run_behind_a_holder<txsync::tatas_lock>(txsync::warm_up_presets::eager, 0), 0U);
}

TEST(WarmPolicies, CountAttemptsByTheCauseOfTheirEnd) {
  using txsync::abort_cause;
  machine_script script;
  have_unlearnt_rtm(script);
  const auto aborts = [](const txsync::observe::site_totals& totals, abort_cause why) {
    return totals.warm_ups.aborts[static_cast<std::size_t>(why)];
  };
  const txsync::observe::site_totals before = totals_of(warmed_place);
  // Each ends at once, but for the last, in which the section is run to its end. There are four at most.
  script.on_warm_begin(plan::aborts(attempt_status::conflict_bit));
  script.on_warm_begin(plan::aborts(attempt_status::capacity_write_bit));
  EXPECT_GE(run_behind_a_holder<txsync::tatas_lock>(warmed_place, 1), 1U);
  const txsync::observe::site_totals seen = txsync::observe::difference(totals_of(warmed_place), before);
  EXPECT_EQ(aborts(seen, abort_cause::conflict), 1u);
  EXPECT_EQ(aborts(seen, abort_cause::capacity_write), 1u);
  EXPECT_GE(aborts(seen, abort_cause::explicit_abort), 1u);
}

TEST(WarmPolicies, BoundTheTries) {
  machine_script script;
  have_unlearnt_rtm(script);
  constexpr warm_up_policy three{.tries = 3, .watches = false, .adapts = false};
  EXPECT_EQ(run_behind_a_holder<txsync::tatas_lock>(three, 3), 3U);
}

TEST(WarmPolicies, AStrayEndDoesNotCommit) {
  machine_script script;
  have_unlearnt_rtm(script);
  const auto shared = std::make_unique<shared_state<txsync::tatas_lock>>(txsync::warm_up_presets::eager);
  machine::thread holder;
  ASSERT_TRUE(holder.start(shared_state<txsync::tatas_lock>::hold, shared.get()));
  while (!shared->held.load()) machine::yield();
  shared->lock.lock();
  if (txsync::is_warming()) {
    machine::end();  // as Fig 1 has it: a jump to where an attempt is ended
    EXPECT_TRUE(machine::active());
    ++shared->ran_ahead;
    shared->let_go = true;
  }
  shared->lock.unlock();
  holder.join();
  EXPECT_GE(shared->ran_ahead.load(), 1U);
}

TEST(WarmPolicies, TicketsWarmUpAtTheirDistance) {
  machine_script script;
  have_unlearnt_rtm(script);
  constexpr warm_up_policy second{.nearest = 2, .farthest = 3, .watches = false, .adapts = false};
  EXPECT_EQ(run_behind_a_holder<txsync::ticket_lock>(second, 0), 0U) << "next in line is too near";
}

TEST(WarmFallBack, ElidedLocksFallBackOnOneThatWarmsUp) {
  machine_script script;
  have_unlearnt_rtm(script);
  txsync::scoped_site place(txsync::elision_presets::eager);
  const auto lock = std::make_unique<txsync::elided<txsync::warming<txsync::tatas_lock>>>(place);
  lock->lock();
  EXPECT_TRUE(machine::active());
  EXPECT_FALSE(txsync::is_warming());
  lock->unlock();
  script.on_begin(plan::aborts(0));
  lock->lock();
  EXPECT_FALSE(machine::active());
  lock->unlock();
}

/// An elided lock that a thread holds, because its only attempt was aborted.
struct held_after_all {
  static constexpr txsync::elision_policy once{
      .attempts = 1, .busy = txsync::when_busy::takes_lock, .adapts = txsync::adaptation::none};
  txsync::scoped_site place{once};
  txsync::elided<txsync::warming<txsync::tatas_lock>> lock{place};
  std::atomic<bool> held{false};
  std::atomic<bool> let_go{false};
  std::atomic<unsigned> ran_ahead{0};

  static void hold(void* raw) {
    auto& me = *static_cast<held_after_all*>(raw);
    me.lock.lock();
    EXPECT_FALSE(machine::active());
    me.held = true;
    while (!me.let_go.load()) machine::yield();
    me.lock.unlock();
  }
};

TEST(WarmFallBack, WaitersForTheHolderOfAnElidedLockRunAhead) {
  machine_script script;
  have_unlearnt_rtm(script);
  const auto shared = std::make_unique<held_after_all>();
  script.on_begin(plan::aborts(0));
  machine::thread holder;
  ASSERT_TRUE(holder.start(held_after_all::hold, shared.get()));
  while (!shared->held.load()) machine::yield();
  shared->lock.lock();
  if (txsync::is_warming()) {
    ++shared->ran_ahead;
    shared->let_go = true;
  } else {
    EXPECT_FALSE(machine::active());
    EXPECT_TRUE(shared->let_go.load()) << "beside the holder";
  }
  shared->lock.unlock();
  holder.join();
  EXPECT_GE(shared->ran_ahead.load(), 1U);
  EXPECT_LE(shared->ran_ahead.load(), txsync::warm_up_presets::standard.tries);
  EXPECT_GE(script.counted().warm_begins, 1U);
  EXPECT_FALSE(machine::active());
}

}  // namespace

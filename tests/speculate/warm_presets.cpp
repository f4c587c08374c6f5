// SPDX-License-Identifier: Apache-2.0
// Each preset of warm-up does what its source says while the lock is held: always-abort attempts begun and locks taken,
// on the scripted machine.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

#include <machine/scripted/script.hpp>
#include <speculate/scoped_site.hpp>
#include <txsync/locks/posix_mutex.hpp>
#include <txsync/locks/priority_tatas.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/speculate/warming.hpp>

#include "unlearnt.hpp"

// Compiled with other tests at once, which have constants of the same names.
namespace of_warm_presets {
namespace {

namespace machine = txsync::machine;
namespace presets = txsync::warm_up_presets;
using txsync::script::machine_script;

/// What becomes of waiters while another thread holds the lock.
struct outcome {
  std::uint64_t ahead;  ///< attempts begun, all waiters together
  unsigned sections;    ///< run for real

  bool operator==(const outcome&) const = default;
  friend void PrintTo(const outcome& of, std::ostream* to) {
    *to << of.ahead << " attempts, " << of.sections << " sections";
  }
};

/// On the heap, because an abort puts back the stack.
template <class Lock>
struct waiters {
  static constexpr unsigned most = 2;

  txsync::scoped_site place;
  txsync::warming<Lock> lock{place};
  machine_script& script;
  std::uint64_t until;  ///< attempts, after which the holder lets go
  std::atomic<bool> is_held{false};
  std::atomic<unsigned> sections{0};

  waiters(const txsync::warm_up_policy& policy, machine_script& on, std::uint64_t attempts)
      : place(policy), script(on), until(attempts) {}

  static void hold(void* raw) {
    auto& me = *static_cast<waiters*>(raw);
    me.lock.lock();
    me.is_held.store(true);
    while (me.script.counted().warm_begins < me.until) machine::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // one attempt more would be seen
    me.lock.unlock();
  }
  static void wait(void* raw) {
    auto& me = *static_cast<waiters*>(raw);
    me.lock.lock();
    if (!txsync::is_warming()) me.sections.fetch_add(1);
    me.lock.unlock();
  }
};

class WarmPresets : public testing::Test {
 protected:
  WarmPresets() { have_unlearnt_rtm(script); }

  /// `count` threads wait for a lock that another one holds, until `attempts` have begun and a little longer.
  template <class Lock>
  outcome behind_a_holder(const txsync::warm_up_policy& policy, std::uint64_t attempts, unsigned count = 1) {
    const std::uint64_t before = script.counted().warm_begins;
    const auto all = std::make_unique<waiters<Lock>>(policy, script, before + attempts);
    machine::thread holder;
    machine::thread threads[waiters<Lock>::most];
    EXPECT_TRUE(holder.start(waiters<Lock>::hold, all.get()));
    while (!all->is_held.load()) machine::yield();
    for (unsigned i = 0; i < count; ++i) EXPECT_TRUE(threads[i].start(waiters<Lock>::wait, all.get()));
    for (unsigned i = 0; i < count; ++i) threads[i].join();
    holder.join();
    return {script.counted().warm_begins - before, all->sections.load()};
  }

  machine_script script;
};

TEST_F(WarmPresets, PaperTriesFourTimesAndThenWaits) {
  EXPECT_EQ(behind_a_holder<txsync::tatas_lock>(presets::paper, 4), (outcome{4, 1}));
}

TEST_F(WarmPresets, PaperOverTheCLibrarysMutexTriesFourTimesAndThenSleeps) {
  EXPECT_EQ(behind_a_holder<txsync::posix_mutex>(presets::paper, 4), (outcome{4, 1}));
  EXPECT_EQ(behind_a_holder<txsync::posix_mutex>(presets::paper, 8, 2), (outcome{8, 2}));
}

TEST_F(WarmPresets, PaperPriorityTriesOnceAndGoesFirst) {
  EXPECT_EQ(behind_a_holder<txsync::priority_tatas_lock>(presets::paper_priority, 1), (outcome{1, 1}));
}

TEST_F(WarmPresets, PaperTicketTriesAtADistanceOfTwo) {
  EXPECT_EQ(behind_a_holder<txsync::fifo_ticket_lock>(presets::paper_ticket, 0), (outcome{0, 1})) << "next in line";
  EXPECT_EQ(behind_a_holder<txsync::fifo_ticket_lock>(presets::paper_ticket, 4, 2), (outcome{4, 2}));
}

TEST_F(WarmPresets, EagerTriesFourTimesAtAnyDistance) {
  EXPECT_EQ(behind_a_holder<txsync::tatas_lock>(presets::eager, 4), (outcome{4, 1}));
  EXPECT_EQ(behind_a_holder<txsync::fifo_ticket_lock>(presets::eager, 8, 2), (outcome{8, 2}));
}

TEST_F(WarmPresets, StandardBeginsAsEager) {
  EXPECT_EQ(behind_a_holder<txsync::tatas_lock>(presets::standard, 4), (outcome{4, 1}));
}

}  // namespace
}  // namespace of_warm_presets

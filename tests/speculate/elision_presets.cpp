// SPDX-License-Identifier: Apache-2.0
// Each preset does what its source says: attempts begun, waits and locks taken, on the scripted machine.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <machine/scripted/script.hpp>
#include <speculate/elision_history.hpp>
#include <speculate/scoped_site.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/srwlock.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/speculate/elided.hpp>
#include <txsync/speculate/warming.hpp>

#include "held_lock.hpp"
#include "unlearnt.hpp"

// Compiled with other tests at once, which have constants of the same names.
namespace of_presets {
namespace {

namespace machine = txsync::machine;
namespace presets = txsync::elision_presets;
using machine::attempt_status;
using txsync::elided;
using txsync::elision_policy;
using txsync::scoped_site;
using txsync::tatas_lock;
using txsync::script::machine_script;
using txsync::script::plan;

constexpr std::uint32_t retry = attempt_status::retry_bit;
constexpr std::uint32_t conflict = attempt_status::conflict_bit | retry;
constexpr std::uint32_t capacity = attempt_status::capacity_bit;
constexpr std::uint32_t no_hint = 0;
constexpr std::uint32_t found_held = attempt_status::explicit_bit | std::uint32_t{attempt_status::code_lock_busy} << 24;

/// What became of a section.
struct outcome {
  std::uint64_t begins;
  bool waited;  ///< outside attempts: backoff, or for the lock
  bool took_lock;

  bool operator==(const outcome&) const = default;
  friend void PrintTo(const outcome& of, std::ostream* to) {
    *to << of.begins << " begins, " << (of.waited ? "waited" : "did not wait") << ", "
        << (of.took_lock ? "took the lock" : "committed");
  }
};

/// A queue lock with the node of the one thread that uses it.
class elided_queue {
 public:
  explicit elided_queue(txsync::site& place) noexcept : lock_(place) {}
  void lock() noexcept { lock_.lock(mine_); }
  void unlock() noexcept { lock_.unlock(mine_); }

 private:
  txsync::elided_with_node<txsync::mcs_lock> lock_;
  txsync::mcs_lock::node mine_;
};

/// A reader-writer lock, for sections that read.
class elided_reader : txsync::elided_shared<txsync::srwlock> {
 public:
  using elided_shared::elided_shared;
  void lock() noexcept { lock_shared(); }
  void unlock() noexcept { unlock_shared(); }
  txsync::srwlock& inner() noexcept { return lock_; }
};
using elided_writer = txsync::elided_shared<txsync::srwlock>;

elision_policy without_limit(elision_policy policy) {
  policy.max_wait = 0;
  return policy;
}

class ElisionPresets : public testing::Test {
 protected:
  ElisionPresets() { have_unlearnt_rtm(script); }

  template <class Lock>
  outcome section(Lock& lock) {
    const auto before = script.counted();
    lock.lock();
    const bool took_lock = !machine::active();
    lock.unlock();
    const auto after = script.counted();
    return {after.begins - before.begins, after.relaxes != before.relaxes || after.yields != before.yields, took_lock};
  }
  /// A section of a new lock that nobody holds, where every attempt ends by `status`.
  template <class Lock = elided<tatas_lock>>
  outcome where_all_end_by(std::uint32_t status, const elision_policy& policy) {
    scoped_site place(policy);
    Lock lock(place);
    txsync::detail::forget_elision_history();  // of the last call's, which had this address
    script.on_begin_by_default(plan::aborts(status));
    const outcome all = section(lock);
    script.on_begin_by_default(plan::commits());
    return all;
  }
  /// Begins of a section whose first attempt finds the lock held, and whether it took the lock. The holder lets go once
  /// that attempt has begun. Its waiters have no limit of cycles: the holder sleeps.
  std::pair<std::uint64_t, bool> where_held_at_begin(const elision_policy& preset) {
    const elision_policy policy = without_limit(preset);
    const auto held = std::make_unique<held_lock>(script, policy, 1);
    txsync::detail::forget_elision_history();
    const outcome all = section(held->lock);
    return {all.begins, all.took_lock};
  }

  machine_script script;
};

constexpr bool waits = true;
constexpr bool takes_lock = true;
using held = std::pair<std::uint64_t, bool>;

TEST_F(ElisionPresets, StandardAndEager) {
  for (const elision_policy* const policy : {&presets::standard, &presets::eager}) {
    EXPECT_EQ(where_all_end_by(conflict, *policy), (outcome{5, waits, takes_lock}));
    EXPECT_EQ(where_all_end_by(retry, *policy), (outcome{5, !waits, takes_lock}));
    EXPECT_EQ(where_all_end_by(capacity, *policy), (outcome{1, !waits, takes_lock}));
    EXPECT_EQ(where_held_at_begin(*policy), held(2, !takes_lock));
  }
}

TEST_F(ElisionPresets, ShoreTriesTwiceAndAHeldLockCounts) {
  EXPECT_EQ(where_all_end_by(conflict, presets::shore), (outcome{2, waits, takes_lock}));
  EXPECT_EQ(where_all_end_by(found_held, presets::shore), (outcome{2, waits, takes_lock}));
  EXPECT_EQ(where_all_end_by(capacity, presets::shore), (outcome{1, !waits, takes_lock}));
  EXPECT_EQ(where_held_at_begin(presets::shore), held(2, !takes_lock));
}

template <class Lock>
class ShoreOver : public ElisionPresets {};
using locks_of_shore = testing::Types<elided_queue, elided_reader, elided_writer>;
TYPED_TEST_SUITE(ShoreOver, locks_of_shore);

TYPED_TEST(ShoreOver, TriesTwiceAndAHeldLockCounts) {
  const auto where_all_end_by = [this](std::uint32_t status) {
    return this->template where_all_end_by<TypeParam>(status, presets::shore);
  };
  EXPECT_EQ(where_all_end_by(conflict), (outcome{2, waits, takes_lock}));
  EXPECT_EQ(where_all_end_by(found_held), (outcome{2, waits, takes_lock}));
  EXPECT_EQ(where_all_end_by(capacity), (outcome{1, !waits, takes_lock}));
}

TYPED_TEST(ShoreOver, Commits) {
  scoped_site place(presets::shore);
  TypeParam lock(place);
  EXPECT_EQ(this->section(lock), (outcome{1, !waits, !takes_lock}));
}

TEST_F(ElisionPresets, ShoreReadsBesideAReaderOfSrwlock) {
  scoped_site place(presets::shore);
  const auto lock = std::make_unique<elided_reader>(place);
  lock->inner().lock_shared();
  EXPECT_EQ(section(*lock), (outcome{1, !waits, !takes_lock}));
  lock->inner().unlock_shared();
}

TEST_F(ElisionPresets, TheThesisRetriesWhatTheHintAllows) {
  EXPECT_EQ(where_all_end_by(conflict, presets::thesis_100), (outcome{101, !waits, takes_lock}));
  EXPECT_EQ(where_all_end_by(no_hint, presets::thesis_100), (outcome{1, !waits, takes_lock}));
  EXPECT_EQ(where_held_at_begin(presets::thesis_100), held(1, takes_lock));
}

TEST_F(ElisionPresets, Htm1TriesOnceWhateverTheCause) {
  for (const std::uint32_t status : {conflict, retry, capacity, no_hint, found_held}) {
    EXPECT_EQ(where_all_end_by(status, presets::htm_1), (outcome{1, !waits, takes_lock})) << status;
  }
  // It waits inside, and that try is used up.
  EXPECT_EQ(where_held_at_begin(presets::htm_1), held(1, takes_lock));
}

TEST_F(ElisionPresets, Htm10TriesTenTimesWhateverTheCause) {
  for (const std::uint32_t status : {conflict, retry, capacity, no_hint, found_held}) {
    EXPECT_EQ(where_all_end_by(status, presets::htm_10), (outcome{10, waits, takes_lock})) << status;
  }
  // Causes that alternate have no tries of their own.
  scoped_site place(presets::htm_10);
  elided<tatas_lock> lock(place);
  for (int i = 0; i < 3; ++i) {
    script.on_begin({plan::aborts(conflict), plan::aborts(no_hint), plan::aborts(found_held)});
  }
  script.on_begin(plan::aborts(capacity));
  EXPECT_EQ(section(lock), (outcome{10, waits, takes_lock}));
  EXPECT_EQ(where_held_at_begin(presets::htm_10), held(2, !takes_lock));
}

// ---- htm-10 with always-abort as its fallback (always-abort paper, IV-A 5)

/// Its waiters run ahead as the paper's.
struct aahtm_lock : txsync::warming<tatas_lock> {
  static constinit txsync::site_with_policy papers;
  aahtm_lock() noexcept : warming(papers) {}
};
constinit txsync::site_with_policy aahtm_lock::papers{"papers", txsync::warm_up_presets::paper,
                                                      txsync::site::counting::off};

/// The lock itself is held by another thread until waiters have run ahead so many times.
struct held_aahtm {
  struct open_lock : elided<aahtm_lock> {
    using elided<aahtm_lock>::elided;
    aahtm_lock& inner() noexcept { return lock_; }
  };

  scoped_site place{presets::htm_10};
  open_lock lock{place};
  machine_script& script;
  std::uint64_t until;
  std::atomic<bool> is_held{false};
  machine::thread other;

  held_aahtm(machine_script& on, std::uint64_t times) : script(on), until(on.counted().warm_begins + times) {
    const auto holds = [](void* raw) {
      auto& me = *static_cast<held_aahtm*>(raw);
      me.lock.inner().lock();
      me.is_held.store(true);
      while (me.script.counted().warm_begins < me.until) machine::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // one try more would be seen
      me.lock.inner().unlock();
    };
    EXPECT_TRUE(other.start(holds, this));
    while (!is_held.load()) machine::yield();
  }
  ~held_aahtm() { other.join(); }
};

TEST_F(ElisionPresets, Htm10WithAnAlwaysAbortFallbackTakesAFreeLock) {
  EXPECT_EQ(where_all_end_by<elided<aahtm_lock>>(conflict, presets::htm_10), (outcome{10, waits, takes_lock}));
  EXPECT_EQ(where_all_end_by<elided<aahtm_lock>>(capacity, presets::htm_10), (outcome{10, waits, takes_lock}));
  EXPECT_EQ(script.counted().warm_begins, 0u);
}

TEST_F(ElisionPresets, Htm10WithAnAlwaysAbortFallbackRunsAheadInFourTriesWhileItWaits) {
  script.on_begin_by_default(plan::aborts(capacity));
  const auto lock = std::make_unique<held_aahtm>(script, txsync::warm_up_presets::paper.tries);
  EXPECT_EQ(section(lock->lock), (outcome{10, waits, takes_lock}));
  EXPECT_EQ(script.counted().warm_begins, 4u);
}

TEST_F(ElisionPresets, ThePatientOnesDoNotCountWhoTakesTheLock) {
  EXPECT_EQ(where_all_end_by(conflict, presets::htm_1_patient), (outcome{1, !waits, takes_lock}));
  EXPECT_EQ(where_all_end_by(no_hint, presets::htm_1_patient), (outcome{1, !waits, takes_lock}));
  EXPECT_EQ(where_all_end_by(found_held, presets::htm_1_patient), (outcome{17, !waits, takes_lock}));
  EXPECT_EQ(where_held_at_begin(presets::htm_1_patient), held(2, !takes_lock));
  EXPECT_EQ(where_all_end_by(conflict, presets::htm_10_patient), (outcome{10, waits, takes_lock}));
  EXPECT_EQ(where_all_end_by(no_hint, presets::htm_10_patient), (outcome{10, !waits, takes_lock}));
  EXPECT_EQ(where_all_end_by(found_held, presets::htm_10_patient), (outcome{17, waits, takes_lock}));
  EXPECT_EQ(where_held_at_begin(presets::htm_10_patient), held(2, !takes_lock));
}

TEST_F(ElisionPresets, LibompRetriesOnce) {
  EXPECT_EQ(where_all_end_by(conflict, presets::libomp), (outcome{2, !waits, takes_lock}));
  EXPECT_EQ(where_all_end_by(capacity, presets::libomp), (outcome{1, !waits, takes_lock}));
  EXPECT_EQ(where_held_at_begin(presets::libomp), held(2, !takes_lock));
}

TEST_F(ElisionPresets, LemmingDoesNotWaitForAHeldLock) {
  EXPECT_EQ(where_all_end_by(conflict, presets::lemming), (outcome{5, waits, takes_lock}));
  EXPECT_EQ(where_all_end_by(found_held, presets::lemming), (outcome{5, !waits, takes_lock}));
}

// ---- LevelDB's rule

TEST_F(ElisionPresets, XsyncTakesTheLockAfterOneAbort) {
  EXPECT_EQ(where_all_end_by(conflict, presets::xsync), (outcome{1, !waits, takes_lock}));
  EXPECT_EQ(where_all_end_by(retry, presets::xsync), (outcome{1, !waits, takes_lock}));
  EXPECT_EQ(where_all_end_by(capacity, presets::xsync), (outcome{1, !waits, takes_lock}));
  EXPECT_EQ(where_held_at_begin(presets::xsync), held(2, !takes_lock));
}

TEST_F(ElisionPresets, XsyncsLimitFallsAtOnceAndGrowsByOne) {
  txsync::detail::elision_history history;
  EXPECT_EQ(attempts_now(history, presets::xsync), 8u);
  attempt_aborted(history, presets::xsync);
  for (const std::uint32_t limit : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 8u}) {
    EXPECT_EQ(attempts_now(history, presets::xsync), limit);
    attempt_committed(history, presets::xsync, 1);
  }
}

// ---- glibc's rule

/// A section of another thread; whether it made an attempt.
bool attempted_elsewhere(machine_script& script, elided<tatas_lock>& lock) {
  const std::uint64_t before = script.counted().begins;
  machine::thread other;
  const auto run = [](void* raw) {
    auto& its = *static_cast<elided<tatas_lock>*>(raw);
    its.lock();
    its.unlock();
  };
  EXPECT_TRUE(other.start(run, &lock));
  other.join();
  return script.counted().begins != before;
}

TEST_F(ElisionPresets, GlibcSkipsForAllThreadsOfTheLock) {
  EXPECT_EQ(where_all_end_by(capacity, presets::glibc), (outcome{1, !waits, takes_lock}));
  scoped_site place(presets::glibc);
  elided<tatas_lock> lock(place);
  txsync::detail::forget_elision_history();
  script.on_begin(plan::aborts(capacity));
  EXPECT_EQ(section(lock), (outcome{1, !waits, takes_lock}));
  EXPECT_FALSE(attempted_elsewhere(script, lock));
  EXPECT_EQ(section(lock), (outcome{0, !waits, takes_lock}));
  EXPECT_FALSE(attempted_elsewhere(script, lock));
  EXPECT_TRUE(attempted_elsewhere(script, lock)) << "three sections took the lock, whoever ran them";
  EXPECT_EQ(section(lock), (outcome{1, !waits, !takes_lock}));
}

TEST_F(ElisionPresets, GlibcSkipsNothingAfterConflicts) {
  scoped_site place(presets::glibc);
  elided<tatas_lock> lock(place);
  script.on_begin({plan::aborts(conflict), plan::aborts(conflict), plan::aborts(conflict)});
  EXPECT_EQ(section(lock), (outcome{3, !waits, takes_lock}));
  EXPECT_EQ(section(lock), (outcome{1, !waits, !takes_lock}));
}

TEST_F(ElisionPresets, GlibcLooksAtTheHintAlone) {
  scoped_site place(presets::glibc);
  elided<tatas_lock> lock(place);
  script.on_begin({plan::aborts(conflict), plan::aborts(attempt_status::conflict_bit)});
  EXPECT_EQ(section(lock), (outcome{2, !waits, takes_lock}));
  EXPECT_EQ(section(lock), (outcome{0, !waits, takes_lock}));
}

TEST_F(ElisionPresets, GlibcTakesALockFoundHeldAndSkips) {
  const auto other = std::make_unique<held_lock>(script, presets::glibc, 1);
  EXPECT_EQ(section(other->lock).begins, 1u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(section(other->lock), (outcome{0, !waits, takes_lock}));
  EXPECT_EQ(section(other->lock), (outcome{1, !waits, !takes_lock}));
}

// ---- lemmings

/// Threads that are inside attempts when one thread takes the lock, which ends all of them by conflicts.
struct crowd {
  static constexpr unsigned size = 4;

  held_lock& of;
  std::atomic<unsigned> took_lock{0};
  std::atomic<unsigned> committed{0};

  explicit crowd(held_lock& lock) : of(lock) {
    machine::thread threads[size];
    const auto run = [](void* raw) {
      auto& me = *static_cast<crowd*>(raw);
      me.of.lock.lock();
      const bool elided = machine::active();
      me.of.lock.unlock();
      (elided ? me.committed : me.took_lock).fetch_add(1);
    };
    for (machine::thread& one : threads) EXPECT_TRUE(one.start(run, this));
    for (machine::thread& one : threads) one.join();
  }
};

TEST_F(ElisionPresets, OneThreadThatTakesTheLockUsesUpTheTriesOfAllInside) {
  const auto lock = std::make_unique<held_lock>(script, presets::htm_1, crowd::size);
  for (unsigned i = 0; i < crowd::size; ++i) script.on_begin(plan::aborts(conflict));
  const std::uint64_t before = script.counted().begins;
  const crowd all(*lock);
  EXPECT_EQ(all.took_lock.load(), crowd::size);
  EXPECT_EQ(script.counted().begins - before, crowd::size);
}

TEST_F(ElisionPresets, OneThreadThatTakesTheLockUsesUpATryOfAllInside) {
  const auto lock = std::make_unique<held_lock>(script, presets::htm_10, crowd::size);
  script.on_begin_by_default(plan::aborts(conflict));
  const std::uint64_t before = script.counted().begins;
  const crowd all(*lock);
  EXPECT_EQ(all.took_lock.load(), crowd::size);
  EXPECT_EQ(script.counted().begins - before, 10 * crowd::size) << "the one by the lock, and nine more each";
}

TEST_F(ElisionPresets, OneThreadThatTakesTheLockCostsThePatientNoTry) {
  const elision_policy patient = without_limit(presets::htm_1_patient);
  const auto lock = std::make_unique<held_lock>(script, patient, crowd::size);
  for (unsigned i = 0; i < crowd::size; ++i) script.on_begin(plan::aborts(conflict));
  const crowd all(*lock);
  EXPECT_EQ(all.committed.load(), crowd::size);
  EXPECT_EQ(all.took_lock.load(), 0u);
}

}  // namespace
}  // namespace of_presets

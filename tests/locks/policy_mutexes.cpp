// SPDX-License-Identifier: Apache-2.0
// Mutexes whose algorithm the policy of their site names: when it is chosen, that all agree on it, and what is counted.
// The conformance suite runs on them, too (locks_under_test.hpp).
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <ostream>
#include <string>
#include <thread>

#include <txsync/condition_variable.hpp>
#include <txsync/policy_mutex.hpp>

#include "../observe/site_totals.hpp"
#include "../sanitizers.hpp"
#include "harness/budget.hpp"
#include "harness/threads.hpp"
#include "locks_under_test.hpp"
#include "scenarios/exclusion.hpp"

namespace {

using namespace conformance;
using namespace std::chrono_literals;
using txsync::lock_policy;
using txsync::policy_mutex;
using txsync::policy_word;

constinit txsync::site static_place{"policy_mutexes.static"};
constinit policy_mutex static_lock{static_place};
static_assert(sizeof(policy_mutex) == 40 && std::is_trivially_destructible_v<policy_mutex>);

struct algorithm_case {
  const char* name;
  std::uint32_t word;
  std::uint64_t after_one_section;  ///< see first_word()
};
/// A turn of futex_mutex; a free tatas_lock; the second ticket, which is served next.
constexpr std::uint64_t futex_word = 0x100, tatas_word = 0, ticket_word = 0x10'0000'0010;
constexpr algorithm_case algorithms[] = {
    {"default", 0, futex_word},
    {"mutex", lock_policy::mutex, futex_word},
    {"tatas", lock_policy::tatas, tatas_word},
    {"ticket", lock_policy::ticket, ticket_word},
    {"fifo_ticket", lock_policy::fifo_ticket, ticket_word},
    {"spin", lock_policy::spin, futex_word},
    {"priority_tatas", lock_policy::priority_tatas, tatas_word},
};
void PrintTo(const algorithm_case& one, std::ostream* out) { *out << one.name; }

/// The lock's first eight bytes, without the flag of a futex_mutex that says that nobody waits.
std::uint64_t first_word(const policy_mutex& lock) {
  constexpr std::uint64_t quiet = std::uint64_t{1} << 63;
  static_assert(std::is_standard_layout_v<policy_mutex>);
  return reinterpret_cast<const std::atomic<std::uint64_t>&>(lock).load() & ~quiet;
}

void use_once(policy_mutex& lock) {
  lock.lock();
  EXPECT_TRUE(lock.is_held());
  lock.unlock();
  EXPECT_FALSE(lock.is_held());
}

/// A place and what locks of it are.
class PolicyMutex : public testing::TestWithParam<algorithm_case> {
 protected:
  PolicyMutex() { place.set_policy(GetParam().word); }
  ~PolicyMutex() override { place.set_policy(0); }

  static inline constinit txsync::site place{"policy_mutexes"};
};
INSTANTIATE_TEST_SUITE_P(EachAlgorithm, PolicyMutex, testing::ValuesIn(algorithms),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(PolicyMutex, IsWhatThePolicySaysAtItsFirstUse) {
  policy_mutex lock(place);
  place.set_policy(lock_policy::spin);
  EXPECT_FALSE(lock.is_held());
  place.set_policy(GetParam().word);
  use_once(lock);
  EXPECT_EQ(first_word(lock), GetParam().after_one_section);
}

TEST_P(PolicyMutex, KeepsItsAlgorithm) {
  policy_mutex lock(place);
  use_once(lock);
  policy_mutex once_more(place);
  once_more.lock();
  for (const algorithm_case& other : algorithms) {
    place.set_policy(other.word);
    EXPECT_FALSE(elsewhere([&] { return once_more.try_lock(); })) << other.name;
  }
  once_more.unlock();
  EXPECT_EQ(first_word(once_more), GetParam().after_one_section);
  use_once(once_more);
}

TEST_P(PolicyMutex, IsChosenByATryToo) {
  policy_mutex tried(place);
  EXPECT_TRUE(tried.try_lock());
  EXPECT_FALSE(elsewhere([&] { return tried.try_lock(); }));
  tried.unlock();
  EXPECT_EQ(first_word(tried), GetParam().after_one_section);

  policy_mutex waited_for(place);
  EXPECT_TRUE(waited_for.try_lock_for(1s));
  EXPECT_FALSE(elsewhere([&] { return waited_for.try_lock_for(2ms); }));
  waited_for.unlock();
  EXPECT_FALSE(waited_for.is_held());
}

TEST_P(PolicyMutex, LetsOneThreadInAtATime) {
  static txsync::site* const own = &place;
  struct lock_here : policy_mutex {
    lock_here() : policy_mutex(*own) {}
  };
  for (const unsigned threads : {2U, 8U}) {
    const auto shared = std::make_shared<guarded_by<lock_here>>();
    const unsigned sections = rounds_each(true, threads, 8'000);
    const auto found = run_team(threads, [=](seat& me) {
      for (unsigned round = 0; round < sections && !me.given_up(); ++round) {
        me.at("lock");
        if (round % 3 != 0 || !shared->lock.try_lock_for(1ms)) shared->lock.lock();
        shared->data.update(me, inside::work, round);
        shared->lock.unlock();
        me.tick();
      }
    });
    EXPECT_EQ(found, "");
    EXPECT_EQ(shared->data.count_is(long{threads} * sections), "");
  }
}

/// The first fifteen acquisitions of a thread are all samples.
TEST_P(PolicyMutex, IsCountedAtItsSite) {
  constexpr unsigned sections = 8;
  policy_mutex lock(place);
  const txsync::observe::site_totals before = totals_of(place);
  std::thread([&] {
    for (unsigned i = 0; i < sections; ++i) {
      const std::lock_guard guard(lock);
    }
  }).join();
  const txsync::observe::site_totals here = txsync::observe::difference(totals_of(place), before);
  EXPECT_EQ(here.acquisitions, sections);
  EXPECT_EQ(here.hold.count(), sections);
  EXPECT_EQ(here.contended, 0U);

  place.set_policy(GetParam().word | policy_word::counting_off);
  EXPECT_TRUE(elsewhere([&] { return std::unique_lock(lock, std::try_to_lock).owns_lock(); }));
  EXPECT_EQ(txsync::observe::difference(totals_of(place), before).acquisitions, sections);
}

TEST_P(PolicyMutex, WorksWithConditionVariables) {
  policy_mutex lock(place);
  std::condition_variable_any changed;
  txsync::condition_variable answered;
  unsigned step = 0;
  std::thread other([&] {
    std::unique_lock hold(lock);
    changed.wait(hold, [&] { return step == 1; });
    step = 2;
    hold.unlock();
    answered.notify_one();
  });
  {
    std::unique_lock hold(lock);
    step = 1;
    changed.notify_one();
    while (step != 2) answered.wait_with(lock);
  }
  other.join();
  EXPECT_FALSE(lock.is_held());
}

TEST(PolicyMutexes, OfStaticStorageAreReadyBeforeMain) {
  static_place.set_policy(lock_policy::ticket);
  use_once(static_lock);
  EXPECT_EQ(first_word(static_lock), ticket_word);
  EXPECT_EQ(&static_lock.get_site(), &static_place);
  policy_mutex without_site;
  EXPECT_EQ(&without_site.get_site(), &txsync::site::unnamed());
  use_once(without_site);
  EXPECT_EQ(first_word(without_site), futex_word);
}

/// For pthread locks only; here it is the default.
TEST(PolicyMutexes, OfASiteThatSaysLibcAreTheDefault) {
  static constinit txsync::site place{"policy_mutexes.libc"};
  place.set_policy(1U << 4);
  policy_mutex lock(place);
  use_once(lock);
  EXPECT_EQ(first_word(lock), futex_word);
}

/// Threads come at once to a lock that nobody has used, while the policy changes. One after the other, many locks.
TEST(PolicyMutexes, AreChosenOnceByThreadsThatComeAtOnce) {
  static constinit txsync::site place{"policy_mutexes.first"};
  struct state {
    std::unique_ptr<policy_mutex> lock;
    std::atomic<unsigned> ready{0}, done{0};
    long sum = 0;
  };
  constexpr unsigned threads = 3;
  const unsigned locks = rounds(2'000);
  const auto shared = std::make_shared<state>();
  const auto found = run_team(threads, [=](seat& me) {
    for (unsigned round = 0; round < locks; ++round) {
      if (me.index() == 0) {
        if (!me.await("the others", [&] { return shared->done.load() == round * threads; })) return;
        place.set_policy(algorithms[round % std::size(algorithms)].word);
        shared->lock = std::make_unique<policy_mutex>(place);
        shared->ready.store(round + 1);
        place.set_policy(algorithms[(round + 1) % std::size(algorithms)].word);
      } else if (!me.await("the next lock", [&] { return shared->ready.load() == round + 1; })) {
        return;
      }
      me.at("lock()");
      shared->lock->lock();
      ++shared->sum;
      shared->lock->unlock();
      me.tick();
      shared->done.fetch_add(1);
    }
  });
  EXPECT_EQ(found, "");
  EXPECT_EQ(shared->sum, long{threads} * locks);
}

/// A ticket that was left in a lock that was never given up means nothing to the next lock there.
TEST(PolicyMutexes, MayLieWhereALockOfAnotherAlgorithmWas) {
  static constinit txsync::site place{"policy_mutexes.again"};
  struct state {
    alignas(policy_mutex) unsigned char bytes[sizeof(policy_mutex)];
    policy_mutex* lock = nullptr;
    std::atomic<bool> held{false};
  };
  const auto shared = std::make_shared<state>();
  for (const std::uint32_t word : {lock_policy::ticket, lock_policy::fifo_ticket}) {
    place.set_policy(word);
    shared->lock = new (shared->bytes) policy_mutex(place);
    shared->lock->lock();
    EXPECT_FALSE(elsewhere([&] { return shared->lock->try_lock_for(2ms); }));

    shared->lock = new (shared->bytes) policy_mutex(place);
    shared->held = false;
    const auto found = run_team(2, [=](seat& me) {
      if (me.index() != 0 && !me.await("the holder", [&] { return shared->held.load(); })) return;
      me.at("lock()");
      shared->lock->lock();
      shared->held = true;
      if (me.index() == 0) let_others_park();
      shared->lock->unlock();
    });
    EXPECT_EQ(found, "");
    EXPECT_FALSE(shared->lock->is_held());
  }
}

}  // namespace

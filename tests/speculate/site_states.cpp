// SPDX-License-Identifier: Apache-2.0
// A site tells its locks whether they speculate: whose policy that is, when it changes, and what memory it costs
// (scripted machine).
#include <gtest/gtest.h>

#include <deque>
#include <iterator>
#include <thread>

#include <machine/scripted/script.hpp>
#include <policy/presets.hpp>
#include <speculate/scoped_site.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/machine/memory.hpp>
#include <txsync/mutex.hpp>
#include <txsync/speculate/elided.hpp>
#include <txsync/speculate/warming.hpp>

#include "unlearnt.hpp"

namespace of_sites {
namespace {

namespace detail = txsync::detail;
namespace machine = txsync::machine;
namespace policy = txsync::policy;
using policy::elision_kind;
using policy::packed;
using policy::warm_up_kind;
using txsync::elided;
using txsync::elision_policy;
using txsync::elision_policy_of;
using txsync::site;
using txsync::site_with_policy;
using txsync::tatas_lock;
using txsync::warm_up_policy;
using txsync::warm_up_policy_of;
using txsync::warming;
using txsync::script::machine_script;
using txsync::script::plan;

constexpr elision_policy twice{.attempts = 2, .adapts = txsync::adaptation::none};
constexpr warm_up_policy thrice{.tries = 3};

constexpr std::uint32_t word_of(elision_kind elides, warm_up_kind warms = warm_up_kind::unset) {
  return packed{.counting = false, .elision = elides, .warm_up = warms}.word();
}

// ---- whose policy

constinit site plain_site{"site_states.plain"};
constinit site_with_policy with_both{"site_states.both", twice, thrice};
constinit site_with_policy with_elision{"site_states.elision", twice};
constinit site_with_policy with_warm_up{"site_states.warm_up", thrice};
constinit site_with_policy uncounted{"site_states.uncounted", twice, site::counting::off};
static_assert(sizeof(site) == 24 && sizeof(site_with_policy) == 40);
static_assert(sizeof(elided<txsync::mutex>) == 24 && sizeof(warming<txsync::mutex>) == 24);

TEST(SitePolicy, IsStandardWhereNothingIsSaid) {
  EXPECT_EQ(&elision_policy_of(plain_site), &txsync::elision_presets::standard);
  EXPECT_EQ(&warm_up_policy_of(plain_site), &txsync::warm_up_presets::standard);
  EXPECT_EQ(&elision_policy_of(with_warm_up), &txsync::elision_presets::standard);
  EXPECT_EQ(&warm_up_policy_of(with_elision), &txsync::warm_up_presets::standard);
}

TEST(SitePolicy, IsTheCodesWhereTheWordSaysNothing) {
  EXPECT_EQ(&elision_policy_of(with_both), &twice);
  EXPECT_EQ(&warm_up_policy_of(with_both), &thrice);
  EXPECT_EQ(&elision_policy_of(with_elision), &twice);
  EXPECT_EQ(&warm_up_policy_of(with_warm_up), &thrice);
  EXPECT_TRUE(with_both.is_counted());
  EXPECT_FALSE(uncounted.is_counted());
}

TEST(SitePolicy, IsTheWordsWhereThatSaysSomething) {
  for (site* const one : {&plain_site, static_cast<site*>(&with_both)}) {
    for (std::size_t row = 0; row < std::size(policy::elision_table); ++row) {
      one->set_policy(word_of(policy::kind_of_row<elision_kind>(row)));
      EXPECT_EQ(&elision_policy_of(*one), policy::elision_table[row].policy) << row;
    }
    for (std::size_t row = 0; row < std::size(policy::warm_up_table); ++row) {
      one->set_policy(word_of(elision_kind::off, policy::kind_of_row<warm_up_kind>(row)));
      EXPECT_EQ(&warm_up_policy_of(*one), policy::warm_up_table[row].policy) << row;
      EXPECT_EQ(elision_policy_of(*one).attempts, 0u) << row;
    }
    one->set_policy(word_of(elision_kind::unset, warm_up_kind::off));
    EXPECT_EQ(warm_up_policy_of(*one).tries, 0u);
    one->set_policy(0);
  }
  EXPECT_EQ(&elision_policy_of(with_both), &twice) << "what is given in code comes back";
  EXPECT_EQ(&elision_policy_of(plain_site), &txsync::elision_presets::standard);
}

TEST(SitePolicy, AWordCannotSayThatThereIsOneInCode) {
  plain_site.set_policy(txsync::policy_word::in_code);
  EXPECT_EQ(&elision_policy_of(plain_site), &txsync::elision_presets::standard);
  EXPECT_EQ(plain_site.policy(), 0u);
}

// ---- memory

class SiteStates : public testing::Test {
 protected:
  SiteStates() {
    have_unlearnt_rtm(script);
    // The thread's own memory is mapped by then, and what it counts in.
    static constinit site counted{"site_states.first"};
    txsync::mutex plain(counted);
    plain.lock();
    plain.unlock();
    txsync::scoped_site first(twice);
    elided<tatas_lock> lock(first);
    (void)is_elided(lock);
  }

  template <class Lock>
  static bool is_elided(Lock& lock) {
    lock.lock();
    const bool inside = machine::active();
    lock.unlock();
    return inside;
  }
  /// How often `run` maps pages. Such pages are few: 0, 1 or 2.
  template <class Run>
  unsigned maps(Run run) {
    script.fail_map_pages(3);
    run();
    for (unsigned left = 2;; --left) {
      void* const page = machine::map_pages(machine::page_size());
      if (page == nullptr) return left;
      machine::unmap_pages(page, machine::page_size());
      if (left == 0) return ~0u;
    }
  }
  static bool has_page(const site& place) { return detail::site_state::of(place).get_site() == &place; }

  machine_script script;
};

TEST_F(SiteStates, ASiteThatSpeculatesTakesOnePage) {
  static constinit site_with_policy place{"site_states.one", twice, thrice, site::counting::off};
  elided<tatas_lock> one(place);
  elided<txsync::mutex> other(place);
  warming<txsync::ticket_lock> warm(place);
  EXPECT_FALSE(has_page(place));
  EXPECT_EQ(maps([&] {
              for (int i = 0; i < 3; ++i) {
                EXPECT_TRUE(is_elided(one));
                EXPECT_TRUE(is_elided(other));
                warm.lock([](txsync::warm_memory&) {});
                warm.unlock();
              }
            }),
            1u);
  EXPECT_TRUE(has_page(place));
}

TEST_F(SiteStates, ASiteThatDoesNotSpeculateTakesNone) {
  static constinit site place{"site_states.none"};
  txsync::mutex plain(place);
  elided<tatas_lock> one(place);
  warming<txsync::ticket_lock> warm(place);
  place.set_policy(word_of(elision_kind::off, warm_up_kind::off));
  EXPECT_EQ(maps([&] {
              EXPECT_FALSE(is_elided(plain));
              for (int i = 0; i < 100; ++i) {
                EXPECT_FALSE(is_elided(one));
                warm.lock([](txsync::warm_memory&) { FAIL() << "warmed up"; });
                warm.unlock();
              }
            }),
            0u);
  EXPECT_FALSE(has_page(place));
  EXPECT_TRUE(takes_lock(place));
  EXPECT_TRUE(warm_up_is_off(place));
}

TEST_F(SiteStates, WithoutAttemptsElidedLocksTakeNone) {
  static constinit site place{"site_states.no_attempts"};
  script.begin_is(txsync::script::begin_nature::always_aborts);
  elided<tatas_lock> one(place);
  EXPECT_EQ(maps([&] { EXPECT_FALSE(is_elided(one)); }), 0u);
  EXPECT_TRUE(takes_lock(place));
}

TEST_F(SiteStates, LocksThatCannotBeElidedAreTaken) {
  static constinit site place{"site_states.plain"};
  EXPECT_TRUE(takes_lock(place));
  txsync::mutex plain(place);
  EXPECT_FALSE(is_elided(plain));
  EXPECT_TRUE(takes_lock(place));
  elided<tatas_lock> one(place);
  EXPECT_TRUE(is_elided(one));
  EXPECT_FALSE(takes_lock(place));
}

TEST_F(SiteStates, OneHalfMayBeOffWhileTheOtherIsNotAsked) {
  static constinit site elision_first{"site_states.elision_first"};
  static constinit site warm_up_first{"site_states.warm_up_first"};
  for (site* const place : {&elision_first, &warm_up_first}) {
    place->set_policy(word_of(place == &elision_first ? elision_kind::off : elision_kind::eager,
                              place == &elision_first ? warm_up_kind::eager : warm_up_kind::off));
    elided<tatas_lock> one(*place);
    warming<txsync::ticket_lock> warm(*place);
    const auto warm_section = [&] {
      warm.lock([](txsync::warm_memory&) {});
      warm.unlock();
    };
    if (place == &elision_first) {
      EXPECT_EQ(maps([&] { EXPECT_FALSE(is_elided(one)); }), 0u);
      EXPECT_EQ(maps(warm_section), 1u);
    } else {
      EXPECT_EQ(maps(warm_section), 0u);
      EXPECT_EQ(maps([&] { EXPECT_TRUE(is_elided(one)); }), 1u);
    }
    EXPECT_TRUE(has_page(*place));
    EXPECT_EQ(takes_lock(*place), place == &elision_first);
    EXPECT_EQ(warm_up_is_off(*place), place == &warm_up_first);
  }
}

TEST_F(SiteStates, WithoutMemoryLocksAreTaken) {
  static constinit site place{"site_states.no_memory"};
  elided<tatas_lock> one(place);
  place.set_policy(txsync::policy_word::counting_off);
  script.fail_map_pages(1);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(is_elided(one));
  EXPECT_FALSE(has_page(place));
  place.set_policy(txsync::policy_word::counting_off);  // asks again
  EXPECT_TRUE(is_elided(one));
  EXPECT_TRUE(has_page(place));
}

TEST_F(SiteStates, NothingIsMappedInAnAttempt) {
  static constinit site_with_policy outer_place{"site_states.outer", twice, site::counting::off};
  static constinit site_with_policy inner_place{"site_states.inner", twice, site::counting::off};
  elided<tatas_lock> outer(outer_place), inner(inner_place);
  EXPECT_TRUE(is_elided(outer));
  EXPECT_EQ(maps([&] {
              outer.lock();
              EXPECT_TRUE(machine::active());
              inner.lock();
              EXPECT_TRUE(machine::active());
              EXPECT_FALSE(inner.try_lock()) << "the attempt is in a section of it";
              inner.unlock();
              EXPECT_TRUE(machine::active());
              outer.unlock();
            }),
            0u);
  EXPECT_FALSE(has_page(inner_place));
  EXPECT_TRUE(is_elided(inner));
  EXPECT_TRUE(has_page(inner_place));
}

TEST_F(SiteStates, AnAttemptOfOthersDoesNotEndForIt) {
  static constinit site place{"site_states.in_others"};
  place.set_policy(txsync::policy_word::counting_off);
  elided<tatas_lock> lock(place);
  script.on_begin(plan::commits());
  ASSERT_TRUE(machine::begin().started());
  lock.lock();
  lock.unlock();
  EXPECT_TRUE(machine::active()) << "a page was mapped";
  machine::end();
  EXPECT_FALSE(has_page(place));
}

// ---- policies that change

TEST_F(SiteStates, APolicyThatIsSetCountsAtTheNextAcquisition) {
  static constinit site_with_policy place{"site_states.set", twice};
  elided<tatas_lock> lock(place);
  elided<txsync::mutex> other(place);
  txsync::elided_with_node<txsync::mcs_lock> queue(place);
  txsync::mcs_lock::node node;
  const auto all = [&](bool expected) {
    EXPECT_EQ(is_elided(lock), expected);
    EXPECT_EQ(is_elided(other), expected);
    EXPECT_TRUE(lock.try_lock());
    EXPECT_EQ(machine::active(), expected);
    lock.unlock();
    queue.lock(node);
    EXPECT_EQ(machine::active(), expected);
    queue.unlock(node);
  };
  place.set_policy(word_of(elision_kind::off));
  all(false);
  place.set_policy(0);
  all(true);
  EXPECT_TRUE(has_page(place));
  place.set_policy(word_of(elision_kind::off));
  all(false);
  EXPECT_EQ(takes_lock(place), true);
  place.set_policy(word_of(elision_kind::eager));
  all(true);
  script.on_begin_by_default(plan::aborts(machine::attempt_status::conflict_bit | machine::attempt_status::retry_bit));
  const auto begins = [&] {
    const std::uint64_t before = script.counted().begins;
    EXPECT_FALSE(is_elided(lock));
    return script.counted().begins - before;
  };
  EXPECT_EQ(begins(), txsync::elision_presets::eager.attempts);
  place.set_policy(0);
  EXPECT_EQ(begins(), twice.attempts);
  place.set_policy(word_of(policy::named<elision_kind>("htm-1")));
  EXPECT_EQ(begins(), 1u);
}

TEST_F(SiteStates, AnAnswerOfATrialDoesNotOutliveItsPolicy) {
  constexpr elision_policy quick{.trial_cycles = 2'000};
  txsync::scoped_site place(quick);
  elided<tatas_lock> lock(place);
  script.clock_by_hand(1'000'000);
  for (int i = 0; i < 100'000 && !takes_lock(place); ++i) {
    lock.lock();
    script.advance(machine::active() ? 110 : 10);
    lock.unlock();
  }
  ASSERT_TRUE(takes_lock(place));
  place.set_policy(word_of(elision_kind::eager));
  EXPECT_FALSE(takes_lock(place));
  for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(is_elided(lock)) << i;
  place.set_policy(0);
  EXPECT_TRUE(takes_lock(place)) << "what was learnt is kept";
}

TEST_F(SiteStates, SoDoesOneOfWarmUp) {
  static constinit site_with_policy place{"site_states.warm", txsync::warm_up_presets::early};
  warming<txsync::ticket_lock> lock(place);
  const auto runs_early = [&] {
    bool ran = false;
    lock.lock([&](txsync::warm_memory&) { ran = true; });
    lock.unlock();
    return ran;
  };
  EXPECT_TRUE(runs_early());
  place.set_policy(word_of(elision_kind::unset, warm_up_kind::off));
  EXPECT_FALSE(runs_early());
  EXPECT_TRUE(warm_up_is_off(place));
  place.set_policy(word_of(elision_kind::unset, warm_up_kind::eager));
  EXPECT_FALSE(runs_early());
  EXPECT_FALSE(warm_up_is_off(place));
  place.set_policy(0);
  EXPECT_TRUE(runs_early());
}

TEST_F(SiteStates, CountingIsSwitchedAtOnce) {
  static constinit site_with_policy place{"site_states.counting", twice, site::counting::off};
  elided<tatas_lock> lock(place);
  EXPECT_TRUE(is_elided(lock));
  const auto commits = [] {
    txsync::observe::site_totals all[64];
    const std::uint32_t count = txsync::observe::snapshot(all, 64);
    for (std::uint32_t i = 0; i < count && i < 64; ++i) {
      if (all[i].name == place.name()) return all[i].attempts.commits;
    }
    return std::uint64_t{0};
  };
  EXPECT_EQ(commits(), 0u);
  place.set_policy(0);
  EXPECT_TRUE(is_elided(lock));
  EXPECT_EQ(commits(), 1u);
}

TEST_F(SiteStates, OneSiteForBothOfALockThatDoesBoth) {
  static constinit site_with_policy place{"site_states.both_of_one", twice, txsync::warm_up_presets::early};
  elided<warming<txsync::mutex>> lock(place);
  EXPECT_TRUE(is_elided(lock));
  EXPECT_EQ(&lock.get_site(), &place);
  struct open : elided<warming<txsync::mutex>> {
    using elided<warming<txsync::mutex>>::elided;
    warming<txsync::mutex>& inner() { return this->lock_; }
  } other(place);
  EXPECT_EQ(&other.inner().get_site(), &place);
}

/// Whoever comes last, sections and set_policy(), the site does what its word says in the end.
TEST_F(SiteStates, ThreadsThatAskAndAWordThatChangesAgreeInTheEnd) {
  std::deque<site> places;
  for (int round = 0; round < 300; ++round) {
    site& place = places.emplace_back("site_states.race");
    const std::uint32_t last = word_of(round % 2 == 0 ? elision_kind::off : elision_kind::eager);
    const auto asks = [&] { (void)detail::decide_state(place, detail::speculation::elision); };
    std::thread first(asks), second(asks);
    place.set_policy(word_of(round % 2 == 0 ? elision_kind::eager : elision_kind::off));
    place.set_policy(last);
    first.join();
    second.join();
    const detail::site_state& state = detail::decide_state(place, detail::speculation::elision);
    ASSERT_EQ(state.elision(), &elision_policy_of(place)) << round;
    ASSERT_EQ(state.takes_lock(), round % 2 == 0) << round;
  }
}

}  // namespace
}  // namespace of_sites

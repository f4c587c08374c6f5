// SPDX-License-Identifier: Apache-2.0
// Policies by name, and what a site gets.
#include <gtest/gtest.h>

#include <set>

#include "policy/policy.hpp"
#include "policy/simulated.hpp"
#include "policy/words.hpp"

namespace policy = txsync::policy;
using policy::elision_kind;
using policy::lock_kind;
using policy::packed;
using policy::policy_set;
using policy::rwlock_kind;
using policy::spinlock_kind;

namespace {

bool says_all(packed one) {
  return one.lock != lock_kind::unset && one.rwlock != rwlock_kind::unset && one.spinlock != spinlock_kind::unset &&
         one.elision != elision_kind::unset;
}

TEST(Policies, APackedWordIsReadBackAsItWas) {
  for (unsigned lock = 0; lock <= static_cast<unsigned>(lock_kind::priority_tatas); ++lock) {
    for (unsigned rwlock = 0; rwlock <= 3; ++rwlock) {
      for (const bool counting : {false, true}) {
        const packed one{static_cast<lock_kind>(lock), static_cast<rwlock_kind>(rwlock), spinlock_kind::tatas,
                         counting};
        const packed read = packed::of(one.word());
        EXPECT_EQ(read.lock, one.lock);
        EXPECT_EQ(read.rwlock, one.rwlock);
        EXPECT_EQ(read.spinlock, one.spinlock);
        EXPECT_EQ(read.counting, one.counting);
      }
    }
  }
}

TEST(Policies, APackedWordKeepsItsElision) {
  for (const auto& [word, kind] : policy::words_of<elision_kind>::all) {
    for (const bool counting : {false, true}) {
      const packed one{lock_kind::mutex, rwlock_kind::as_mutex, spinlock_kind::libc, counting, kind};
      const packed read = packed::of(one.word());
      EXPECT_EQ(read.elision, kind) << word;
      EXPECT_EQ(read.word(), one.word()) << word;
      EXPECT_EQ(read.spinlock, spinlock_kind::libc);
    }
  }
}

TEST(Policies, EveryNamedOneSaysAllAndIsFound) {
  std::set<std::string> names;
  for (const policy::named_policy& one : policy::named_policies()) {
    EXPECT_TRUE(says_all(one.defaults)) << one.name;
    EXPECT_TRUE(names.insert(one.name).second) << one.name << " twice";
    const auto found = policy::find_named(one.name);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->defaults.word(), one.defaults.word());
    EXPECT_TRUE(found->sites.empty());
    EXPECT_EQ(policy::load_policy(one.name).defaults.word(), one.defaults.word());
  }
  EXPECT_EQ(names, (std::set<std::string>{"as-mutex", "elide", "fifo-ticket", "libc", "mutex", "spin", "tatas",
                                          "ticket", "warm"}));
  EXPECT_EQ(policy::find_named("elide")->defaults.elision, elision_kind::standard);
  EXPECT_EQ(policy::find_named("mutex")->defaults.elision, elision_kind::off);
  EXPECT_EQ(policy::find_named("as-mutex")->defaults.rwlock, rwlock_kind::as_mutex);
  EXPECT_EQ(policy::find_named("fifo_ticket")->defaults.lock, lock_kind::fifo_ticket);
  EXPECT_FALSE(policy::find_named("mutx").has_value());
}

TEST(Policies, AnUnknownNameIsAnError) {
  for (const char* wrong : {"mutx", "", "libc,tatas"}) {
    try {
      policy::load_policy(wrong);
      ADD_FAILURE() << wrong;
    } catch (const policy::policy_error& error) {
      EXPECT_NE(std::string(error.what()).find("allowed: libc, mutex, "), std::string::npos) << error.what();
    }
  }
}

TEST(Policies, ASiteGetsItsOwnThenTheDefaultThenTheBuiltIn) {
  policy_set set;
  set.defaults = {lock_kind::ticket, rwlock_kind::unset, spinlock_kind::libc, true};
  set.sites = {{"hot", {lock_kind::tatas, rwlock_kind::unset, spinlock_kind::unset, false}}};
  const packed hot = set.find("hot");
  EXPECT_EQ(hot.lock, lock_kind::tatas);
  EXPECT_EQ(hot.elision, elision_kind::off);
  EXPECT_EQ(hot.rwlock, rwlock_kind::rwlock);
  EXPECT_EQ(hot.spinlock, spinlock_kind::libc);
  EXPECT_FALSE(hot.counting);
  const packed other = set.find("cold");
  EXPECT_EQ(other.lock, lock_kind::ticket);
  EXPECT_EQ(other.rwlock, rwlock_kind::rwlock);
  EXPECT_TRUE(other.counting);
  EXPECT_TRUE(says_all(policy_set{}.find("any")));
}

/// What a named site of the program does, of which `before` is its own way.
std::uint32_t named(const policy_set& set, const char* site, packed before = {}) {
  return set.set_for(site).over(before.word());
}

TEST(Policies, OfANamedSiteOnlyWhatIsSaidCounts) {
  EXPECT_EQ(policy_set{}.set_for("any"), (txsync::observe::partial_policy{0, 0}));
  const policy_set set = policy::parse_policy(
      "schema = 1\n[default]\nelision = \"off\"\n[site.hot]\nlock = \"ticket\"\n"
      "[site.own]\nlock = \"libc\"\ncounting = false\n",
      "p");
  packed own;
  own.lock = lock_kind::spin;
  own.elision = elision_kind::eager;
  packed expected = own;
  expected.elision = elision_kind::off;
  EXPECT_EQ(named(set, "cold", own), expected.word());
  expected.lock = lock_kind::ticket;
  EXPECT_EQ(named(set, "hot", own), expected.word());
  expected.lock = lock_kind::spin;
  expected.counting = false;
  EXPECT_EQ(named(set, "own", own), expected.word()) << "libc is the program's own lock";
}

TEST(Policies, OfANamedSiteAPolicyByNameSaysAllButLibcNothing) {
  EXPECT_EQ(policy::find_named("libc")->set_for("any").mask, 0u);
  for (const policy::named_policy& one : policy::named_policies()) {
    if (std::string_view(one.name) == "libc") continue;
    EXPECT_EQ(named(*policy::find_named(one.name), "any"), one.defaults.word()) << one.name;
  }
}

TEST(Policies, CountingOfANamedSiteIsSaidWhereTheFileSaysIt) {
  packed uncounted;
  uncounted.counting = false;
  const auto after = [&](const char* text) {
    return packed::of(named(policy::parse_policy(text, "p"), "hot", uncounted)).counting;
  };
  EXPECT_FALSE(after("schema = 1\n[site.hot]\nlock = \"mutex\"\n"));
  EXPECT_TRUE(after("schema = 1\n[default]\ncounting = true\n"));
  EXPECT_TRUE(after("schema = 1\n[default]\ncounting = false\n[site.hot]\ncounting = true\n"));
}

TEST(Policies, InWords) {
  EXPECT_EQ(policy::to_string(policy::built_in),
            "lock=mutex elision=off warm_up=off rwlock=rwlock spinlock=tatas counting=true");
  EXPECT_EQ(policy::to_string(packed{lock_kind::fifo_ticket, rwlock_kind::as_mutex, spinlock_kind::unset, false}),
            "lock=fifo-ticket rwlock=as-mutex counting=false");
  EXPECT_EQ(policy::to_string(lock_kind::unset), nullptr);
}

TEST(Policies, ASimulatedProgramIsToldWhatIsSaid) {
  EXPECT_EQ(policy::site_policies_to_simulate({}), "");
  EXPECT_EQ(policy::lock_policies_to_simulate({}), "");
  const policy_set mine = policy::parse_policy(
      "schema = 1\n[default]\nelision = \"off\"\nlock = \"libc\"\n[site.a]\nlock = \"ticket\"\n[site.\"1 "
      "2\"]\ncounting = false\n",
      "text");
  EXPECT_EQ(policy::site_policies_to_simulate(mine),
            "10000 ff0000 0 10001 ff0001 3 1 2"
            "10040 ff00f0 1 a");
  EXPECT_EQ(policy::lock_policies_to_simulate(mine), "rwlock=rwlock elision=off warm_up=off");
}

}  // namespace

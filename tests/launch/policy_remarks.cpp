// SPDX-License-Identifier: Apache-2.0
// What a run says of a policy that had no effect somewhere.
#include "launch/policy_remarks.hpp"

#include <gtest/gtest.h>

#include "base/words.hpp"

namespace {

using txsync::base::words;
using txsync::launch::known_site;
using txsync::policy::packed;
using parts = packed::parts;
namespace policy = txsync::policy;

constexpr txsync::machine::htm_capability everything{.attempts = true, .always_abort = true};

words remarks(const std::string& file, const std::vector<known_site>& known,
              const txsync::machine::htm_capability& machine = everything) {
  return txsync::launch::policy_remarks(policy::parse_policy("schema = 1\n" + file, "test"), known, machine);
}

TEST(PolicyRemarks, NothingIsSaidOfAPolicyThatIsFollowed) {
  const std::vector<known_site> known = {{"orders", "named", parts::lock | parts::elision}, {"f@a.cpp:1", "mutex", 0}};
  EXPECT_EQ(remarks("[default]\nlock = \"ticket\"\nwarm_up = \"standard\"\n", known), words{})
      << "a default is for all";
  EXPECT_EQ(remarks("[site.\"orders\"]\nlock = \"ticket\"\nelision = \"eager\"\n", known), words{});
  EXPECT_EQ(remarks("[site.\"f@a.cpp:1\"]\nlock = \"libc\"\n", known), words{});
}

TEST(PolicyRemarks, PartsThatASitesLocksDoNotFollowAreNamed) {
  const std::string file = "[site.\"orders\"]\nlock = \"ticket\"\nelision = \"eager\"\nwarm_up = \"eager\"\n";
  EXPECT_EQ(remarks(file, {{"orders", "named", parts::lock}}),
            (words{"the policy sets elision and warm_up of orders, whose locks follow only lock"}));
  EXPECT_EQ(remarks(file, {{"orders", "named", 0}}),
            (words{"the policy sets lock, elision and warm_up of orders, whose locks follow no policy"}));
  EXPECT_EQ(remarks("[site.\"r@a.cpp:1\"]\nlock = \"ticket\"\n", {{"r@a.cpp:1", "rwlock", 0}}),
            (words{"the policy sets lock of r@a.cpp:1, whose locks follow only rwlock and elision"}));
  EXPECT_EQ(remarks("[site.\"r@a.cpp:1\"]\nrwlock = \"as-mutex\"\nlock = \"ticket\"\n", {{"r@a.cpp:1", "rwlock", 0}}),
            words{});
}

TEST(PolicyRemarks, SitesWithoutALockAreNamed) {
  EXPECT_EQ(remarks("[site.\"orders\"]\nlock = \"ticket\"\n", {{"order", "named", parts::lock}}),
            (words{"the policy names a site of which the program took no lock: orders"}));
  std::string file;
  for (char name = 'a'; name <= 'k'; ++name) file += std::string("[site.\"") + name + "\"]\nlock = \"ticket\"\n";
  EXPECT_EQ(remarks(file, {}),
            (words{"the policy names sites of which the program took no lock: a, b, c, d, e, f, g, h and 3 more"}));
}

TEST(PolicyRemarks, LocksOfTheCLibraryAreNotElided) {
  EXPECT_EQ(
      remarks("[default]\nlock = \"libc\"\n[site.\"f@a.cpp:1\"]\nelision = \"eager\"\n", {{"f@a.cpp:1", "mutex", 0}}),
      (words{"f@a.cpp:1 stays a lock of the C library, which elides nothing: to be elided, it needs lock = \"mutex\" "
             "or another lock of txsync"}));
  EXPECT_EQ(remarks("[site.\"f@a.cpp:1\"]\nlock = \"libc\"\nwarm_up = \"eager\"\n", {{"f@a.cpp:1", "mutex", 0}}),
            words{})
      << "a waiter for such a lock may run ahead";
}

TEST(PolicyRemarks, WithoutSuchAttemptsNothingIsElidedAndNobodyRunsAhead) {
  const std::vector<known_site> known = {{"orders", "named", parts::lock}};
  EXPECT_EQ(remarks("[site.\"orders\"]\nelision = \"eager\"\n", known, {.always_abort = true}),
            (words{"nothing was elided: hardware transactions do not work here; txsync doctor says why"}))
      << "a lock that does not ask does not say that it would follow";
  EXPECT_EQ(remarks("[default]\nwarm_up = \"eager\"\n", known, {.attempts = true}),
            (words{"no waiter ran ahead: there are no always-abort attempts here; txsync doctor says why"}));
  EXPECT_EQ(remarks("[default]\nelision = \"off\"\nwarm_up = \"off\"\n", known, {}), words{});
}

}  // namespace

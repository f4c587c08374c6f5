// SPDX-License-Identifier: Apache-2.0
// A preset is added to a copy of src/policy/presets.hpp, and to no other file (CMakeLists.txt here). This program is
// compiled from that copy and from the sources of the tree as they are; one_more_subject.cpp has the subjects.
#include <gtest/gtest.h>

#include <cstring>

#include <txsync/speculate/site_page.hpp>

#include "policy/policy.hpp"
#include "policy/presets.hpp"
#include "preload/speculating_sites.hpp"

namespace policy = txsync::policy;
using policy::elision_kind;

namespace {

constexpr elision_kind one_more = policy::named<elision_kind>("one-more");

TEST(OneMorePreset, IsAWordOfPolicyFiles) {
  for (const char* const word : {"one-more", "one_more"}) {
    const std::string text = "schema = 1\n[site.x]\nelision = \"" + std::string(word) + "\"\n";
    const policy::policy_set set = policy::parse_policy(text, "p");
    EXPECT_EQ(set.find("x").elision, one_more);
    EXPECT_NE(policy::to_toml(set).find("elision = \"one-more\""), std::string::npos);
  }
  try {
    (void)policy::parse_policy("schema = 1\n[default]\nelision = \"no-such\"\n", "p");
    FAIL();
  } catch (const policy::policy_error& error) {
    EXPECT_NE(std::strstr(error.what(), "\"one-more\""), nullptr) << error.what();
  }
}

TEST(OneMorePreset, IsWhatThePreloadedLibraryDoes) {
  namespace preload = txsync::preload;
  policy::packed asked = policy::built_in;
  asked.elision = one_more;
  asked.counting = false;
  const policy::packed crossed = policy::packed::of(asked.word());
  ASSERT_TRUE(preload::make_speculating(7, {preload::algorithm::futex, true, false}, crossed));
  EXPECT_EQ(txsync::elision_policy_of(preload::speculating_site_of(7).lock_site).attempts, 77u);
}

}  // namespace

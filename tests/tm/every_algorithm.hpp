// SPDX-License-Identifier: Apache-2.0
// A test for each algorithm of the library, by name.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <txsync/tm.hpp>
#include <txsync/tm/heap.hpp>

namespace stm = txsync::tm;

class every_algorithm : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    // Only the first one of a process makes it: smaller than by default, so that a test can fill it.
    if (GetParam().starts_with("dmp") && txsync::machine::attempts_work()) stm::make_heap({.max_bytes = 64U << 20});
    ASSERT_TRUE(stm::use_algorithm(GetParam()));
  }
  void TearDown() override { ASSERT_TRUE(stm::use_algorithm("dctl")); }

  /// By those that run one at a time, everybody waits for a body that does not end.
  static bool runs_side_by_side() {
    if (GetParam().starts_with("dmp") && txsync::machine::attempts_work())
      return false;  // with what is not in the heap
    return !GetParam().ends_with("sgl") && GetParam() != "htm_sgl_adaptive";
  }
  /// A word that was written belongs to its writer until the end.
  static bool owns_from_the_write() {
    return runs_side_by_side() && !GetParam().ends_with("norec") && !GetParam().ends_with("tl2");
  }
  /// Who needs it tries again and again; under 2plsf it waits.
  static bool keeps_trying() { return owns_from_the_write() && GetParam() != "2plsf"; }

 public:
  static std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const stm::algorithm_name& one : stm::algorithms()) all.emplace_back(one.name);
    return all;
  }
  static std::string name_of(const testing::TestParamInfo<std::string>& info) { return info.param; }
};

#define TXSYNC_FOR_EVERY_ALGORITHM(suite) \
  INSTANTIATE_TEST_SUITE_P(, suite, testing::ValuesIn(every_algorithm::names()), every_algorithm::name_of)

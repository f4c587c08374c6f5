// SPDX-License-Identifier: Apache-2.0
// A test for each algorithm of the library, by name.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <txsync/tm.hpp>

namespace stm = txsync::tm;

class every_algorithm : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { ASSERT_TRUE(stm::use_algorithm(GetParam())); }
  void TearDown() override { ASSERT_TRUE(stm::use_algorithm("dctl")); }

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

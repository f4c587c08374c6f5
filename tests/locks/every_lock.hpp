// SPDX-License-Identifier: Apache-2.0
// Tests that are compiled once and run on every exclusive lock.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "harness/any_lock.hpp"
#include "locks_under_test.hpp"

namespace conformance {

template <class Lock>
constexpr const lock_kind* as_kind() {
  static_assert(sizeof(Lock) <= most_lock_bytes && sizeof(holder<Lock>) <= most_holder_bytes);
  return &kind_of<Lock>;
}

template <class... Locks>
auto values_of(testing::Types<Locks...>) {
  return testing::ValuesIn(std::vector<const lock_kind*>{as_kind<Locks>()...});
}
inline auto every_lock() { return values_of(exclusive_locks()); }

inline std::string kind_name(const testing::TestParamInfo<const lock_kind*>& test) { return test.param->name; }

/// How GoogleTest shows a parameter.
inline void PrintTo(const lock_kind* kind, std::ostream* out) { *out << kind->name; }

/// any_lock is the lock that the test is about.
class OnEveryLock : public testing::TestWithParam<const lock_kind*> {
 protected:
  OnEveryLock() { any_lock::next_kind = GetParam(); }
};

}  // namespace conformance

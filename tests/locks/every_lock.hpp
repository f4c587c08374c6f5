// SPDX-License-Identifier: Apache-2.0
// Tests that are compiled once and run on every exclusive lock.
#pragma once

#include <gtest/gtest.h>

#include <ostream>

#include "harness/any_lock.hpp"
#include "locks_under_test.hpp"

namespace conformance {

inline auto every_lock() {
  return one_of_each(exclusive_locks(), []<class Lock>() -> const lock_kind* {
    static_assert(sizeof(Lock) <= max_lock_bytes && sizeof(holder<Lock>) <= max_holder_bytes);
    return &kind_of<Lock>;
  });
}

/// How GoogleTest shows a parameter.
inline void PrintTo(const lock_kind* kind, std::ostream* out) { *out << kind->name; }

/// any_lock is the lock that the test is about.
class OnEveryLock : public testing::TestWithParam<const lock_kind*> {
 protected:
  OnEveryLock() { any_lock::next_kind = GetParam(); }
};

}  // namespace conformance

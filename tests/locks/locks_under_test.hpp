// SPDX-License-Identifier: Apache-2.0
// Every lock that the suite runs on, and what each promises. The first ones are controls: they tell that a failure is
// the lock's and not the suite's.
#pragma once

#include <gtest/gtest.h>

#include <mutex>
#include <shared_mutex>
#include <string>

#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/futex_rwlock.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/occ_rwlock.hpp>
#include <txsync/locks/posix_mutex.hpp>
#include <txsync/locks/spinning_mutex.hpp>
#include <txsync/locks/srwlock.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/mutex.hpp>
#include <txsync/policy_mutex.hpp>
#include <txsync/shared_mutex.hpp>

#include "harness/promises.hpp"

namespace conformance {

/// Mutexes of sites whose policy names an algorithm.
inline constinit txsync::site ticket_site{"tests.ticket"};
inline constinit txsync::site fifo_ticket_site{"tests.fifo_ticket"};
inline const bool sites_have_policies = [] {
  ticket_site.set_policy(txsync::lock_policy::ticket);
  fifo_ticket_site.set_policy(txsync::lock_policy::fifo_ticket);
  return true;
}();
struct ticket_by_policy : txsync::policy_mutex {
  constexpr ticket_by_policy() noexcept : policy_mutex(ticket_site) {}
};
struct fifo_ticket_by_policy : txsync::policy_mutex {
  constexpr fifo_ticket_by_policy() noexcept : policy_mutex(fifo_ticket_site) {}
};

template <>
struct promises<std::mutex> : usual_promises {
  static constexpr const char* name = "std_mutex";
  static constexpr std::size_t bytes = sizeof(std::mutex);
  static constexpr bool zero_is_unlocked = false;
};

template <>
struct promises<std::shared_mutex> : usual_promises {
  static constexpr const char* name = "std_shared_mutex";
  static constexpr std::size_t bytes = sizeof(std::shared_mutex);
  static constexpr bool zero_is_unlocked = false;
  static constexpr bool static_initialisation = false;   // the standard does not say
  static constexpr bool next_owner_may_destroy = false;  // glibc says it of its mutex only
};

template <>
struct promises<txsync::posix_mutex> : usual_promises {
  static constexpr const char* name = "posix_mutex";
  static constexpr std::size_t bytes = sizeof(pthread_mutex_t);
  static constexpr bool zero_is_unlocked = false;
};

template <>
struct promises<txsync::tatas_lock> : usual_promises {
  static constexpr const char* name = "tatas_lock";
  static constexpr std::size_t bytes = 4;
};

template <>
struct promises<txsync::ticket_lock> : usual_promises {
  static constexpr const char* name = "ticket_lock";
  static constexpr std::size_t bytes = 24;
};

template <>
struct promises<txsync::fifo_ticket_lock> : usual_promises {
  static constexpr const char* name = "fifo_ticket_lock";
  static constexpr std::size_t bytes = 8;
  static constexpr bool strictly_fifo = true;
};

template <>
struct promises<txsync::mcs_lock> : usual_promises {
  static constexpr const char* name = "mcs_lock";
  static constexpr std::size_t bytes = 32;
  static constexpr bool lockable = false;
};

template <>
struct promises<txsync::fifo_mcs_lock> : usual_promises {
  static constexpr const char* name = "fifo_mcs_lock";
  static constexpr std::size_t bytes = 16;
  static constexpr bool lockable = false;
  static constexpr bool strictly_fifo = true;
};

template <>
struct promises<txsync::futex_mutex> : usual_promises {
  static constexpr const char* name = "futex_mutex";
  static constexpr std::size_t bytes = 8;
};

template <>
struct promises<txsync::spinning_mutex> : usual_promises {
  static constexpr const char* name = "spinning_mutex";
  static constexpr std::size_t bytes = 8;
};

template <>
struct promises<txsync::mutex> : usual_promises {
  static constexpr const char* name = "mutex";
  static constexpr std::size_t bytes = 16;
};

template <>
struct promises<txsync::policy_mutex> : usual_promises {
  static constexpr const char* name = "policy_mutex";
  static constexpr std::size_t bytes = 40;
};

template <>
struct promises<ticket_by_policy> : promises<txsync::policy_mutex> {
  static constexpr const char* name = "ticket_by_policy";
};

template <>
struct promises<fifo_ticket_by_policy> : promises<txsync::policy_mutex> {
  static constexpr const char* name = "fifo_ticket_by_policy";
};

template <>
struct promises<txsync::occ_rwlock> : usual_promises {
  static constexpr const char* name = "occ_rwlock";
  static constexpr std::size_t bytes = 16;
  static constexpr bool writers_get_in = true;
};

template <>
struct promises<txsync::futex_rwlock> : usual_promises {
  static constexpr const char* name = "futex_rwlock";
  static constexpr std::size_t bytes = 8;
  static constexpr bool readers_get_in = true;
};

template <>
struct promises<txsync::srwlock> : usual_promises {
  static constexpr const char* name = "srwlock";
  static constexpr std::size_t bytes = 40;
  static constexpr bool writers_get_in = true;
};

template <>
struct promises<txsync::shared_mutex> : usual_promises {
  static constexpr const char* name = "shared_mutex";
  static constexpr std::size_t bytes = 24;
  static constexpr bool writers_get_in = true;
  static constexpr bool readers_get_in = true;
};

using exclusive_locks =
    testing::Types<std::mutex, std::shared_mutex, txsync::posix_mutex, txsync::tatas_lock, txsync::ticket_lock,
                   txsync::fifo_ticket_lock, txsync::mcs_lock, txsync::fifo_mcs_lock, txsync::futex_mutex,
                   txsync::spinning_mutex, txsync::mutex, txsync::policy_mutex, ticket_by_policy, txsync::occ_rwlock,
                   txsync::futex_rwlock, txsync::srwlock, txsync::shared_mutex>;
using shared_locks =
    testing::Types<std::shared_mutex, txsync::occ_rwlock, txsync::futex_rwlock, txsync::srwlock, txsync::shared_mutex>;
using strictly_fifo_locks = testing::Types<txsync::fifo_ticket_lock, txsync::fifo_mcs_lock>;
using bounded_bypass_locks = testing::Types<txsync::ticket_lock, txsync::mcs_lock>;

/// The parameters of a suite: what make.operator()<Lock>() answers for each of the locks.
template <class... Locks, class Make>
auto one_of_each(testing::Types<Locks...>, Make make) {
  return testing::Values(make.template operator()<Locks>()...);
}

/// Names a test after the lock instead of a number.
struct case_name {
  template <class Case>
  std::string operator()(const testing::TestParamInfo<const Case*>& test) const {
    return test.param->name;
  }
};
struct lock_names {
  template <class Lock>
  static std::string GetName(int) {
    return promises<Lock>::name;
  }
};

}  // namespace conformance

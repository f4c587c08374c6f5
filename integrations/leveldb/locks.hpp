// SPDX-License-Identifier: Apache-2.0
// The pairs of lock and condition variable that LevelDB is built with: -DTXSYNC_LEVELDB_LOCKS=NAME takes one. Each has
// `mutex` (Lockable) and `condition`; wait() is how one waits with the other.
#pragma once

#include <mutex>

#include <txsync/condition_variable.hpp>
#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/mutex.hpp>
#include <txsync/speculate/elided.hpp>
#include <txsync/speculate/elided_condition_variable.hpp>

#include "workloads/sleeping.hpp"

namespace leveldb_locks {

/// A lock whose site all of LevelDB's locks share.
template <class Lock, const txsync::elision_policy& policy>
class elided_by : public txsync::elided<Lock> {
 public:
  elided_by() noexcept : txsync::elided<Lock>(place) {}

 private:
  static inline constinit txsync::site_with_policy place{"leveldb", policy, txsync::site::counting::off};
};

namespace by = txsync::elision_presets;
using txsync::workloads::sleeping_condition;
using txsync::workloads::sleeping_mutex;

/// txsync's, without elision.
struct plain {
  using mutex = txsync::mutex;
  using condition = txsync::condition_variable;
};

/// What LevelDB has by itself, on the simulated machine: glibc's, that sleep at once.
struct sleeping {
  using mutex = sleeping_mutex;
  using condition = sleeping_condition;
};

/// That with a spin lock: what of a gain is the lock's and not elision's.
struct spinning {
  using mutex = txsync::tatas_lock;
  using condition = sleeping_condition;
};

/// The LevelDB paper's XSync: retries adapt, sections are coarsened, notifications wait for the commit (4.1 and 4.2).
/// It does not say which lock it falls back on; a spin lock here, and in xsync_mutex the one that LevelDB has by
/// itself.
struct xsync {
  using mutex = elided_by<txsync::tatas_lock, by::xsync>;
  using condition = sleeping_condition;
};
struct xsync_mutex {
  using mutex = elided_by<sleeping_mutex, by::xsync>;
  using condition = sleeping_condition;
};

/// The same without coarsening, which a program that calls the system between its sections has no use for.
constexpr txsync::elision_policy one_section_each = [] {
  txsync::elision_policy made = by::xsync;
  made.max_sections = 1;
  return made;
}();
struct xsync_uncoarsened {
  using mutex = elided_by<txsync::tatas_lock, one_section_each>;
  using condition = sleeping_condition;
};

/// txsync's: elided where trials find that faster, and always.
struct elided {
  using mutex = elided_by<txsync::futex_mutex, by::standard>;
  using condition = txsync::elided_condition_variable;
};
struct eager {
  using mutex = elided_by<txsync::futex_mutex, by::eager>;
  using condition = txsync::elided_condition_variable;
};

template <class Condition, class Mutex>
void wait(Condition& condition, Mutex& held) {
  condition.wait(held);
}
inline void wait(txsync::condition_variable& condition, txsync::mutex& held) {
  std::unique_lock<txsync::mutex> lock(held, std::adopt_lock);
  condition.wait(lock);
  lock.release();
}

}  // namespace leveldb_locks

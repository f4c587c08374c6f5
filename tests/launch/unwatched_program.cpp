// SPDX-License-Identifier: Apache-2.0
// unwatched_program: threads wait for locks that do not count their waits, and at one site for one that does, too. All
// sections take their locks, because the policies of the sites say so.
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/occ_rwlock.hpp>
#include <txsync/mutex.hpp>
#include <txsync/policy/site_with_policy.hpp>
#include <txsync/site.hpp>
#include <txsync/speculate/elided.hpp>

namespace {

constexpr unsigned threads = 4;
constexpr unsigned turns = 50;
constexpr txsync::elision_policy none{.attempts = 0, .adapts = txsync::adaptation::none};

constinit txsync::site_with_policy bare{"bare", none}, queue{"queue", none}, table{"table", none}, both{"both", none};
constinit txsync::elided<txsync::futex_mutex> bare_lock{bare};
constinit txsync::elided_with_node<txsync::mcs_lock> queue_lock{queue};
constinit txsync::elided_shared<txsync::occ_rwlock> table_lock{table};
constinit txsync::elided<txsync::futex_mutex> uncounted_lock{both};
constinit txsync::mutex counted_lock{both};

/// Long enough that the other threads come and wait.
void hold() { usleep(100); }

template <class Lock>
void take(Lock& lock) {
  const std::lock_guard guard(lock);
  hold();
}

void work() {
  for (unsigned i = 0; i < turns; ++i) {
    take(bare_lock);
    txsync::mcs_lock::node node;
    queue_lock.lock(node);
    hold();
    queue_lock.unlock(node);
    take(table_lock);
    take(uncounted_lock);
    take(counted_lock);
  }
}

}  // namespace

int main() {
  std::vector<std::thread> all;
  for (unsigned i = 0; i < threads; ++i) all.emplace_back(work);
  for (std::thread& one : all) one.join();
  std::printf("%u\n", threads * turns);
}

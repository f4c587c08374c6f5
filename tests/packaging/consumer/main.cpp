// SPDX-License-Identifier: Apache-2.0
// Uses what a user would of each public face, inlined paths and slow ones, and an attempt, whose code is partly in the
// headers.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include <txsync/barrier.hpp>
#include <txsync/condition_variable.hpp>
#include <txsync/load_policy.hpp>
#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/mutex.hpp>
#include <txsync/observe/counters.hpp>
#include <txsync/shared_mutex.hpp>
#include <txsync/site.hpp>
#include <txsync/speculate/elided_condition_variable.hpp>

namespace {

constexpr int threads = 4;
constexpr int sections = 10'000;

constinit txsync::site place{"consumer.count"};
constinit txsync::mutex lock{place};
constinit txsync::tatas_lock spin;
constinit txsync::shared_mutex table_lock;
constinit txsync::site elided_place{"consumer.elided"};
constinit txsync::elided<txsync::futex_mutex> elided_lock{elided_place};
constinit txsync::elided_condition_variable all_counted;
txsync::condition_variable all_done;
txsync::barrier start{threads};
int count = 0;       // guarded by lock
int spin_count = 0;  // guarded by spin
int table = 0;       // guarded by table_lock
int elided = 0;      // guarded by elided_lock
int committed = 0;   // guarded by lock
int done = 0;        // guarded by lock

void count_elided() {
  const txsync::elided_guard guard(elided_lock);
  if (++elided % sections != 0) return;
  all_counted.notify_all();
  txsync::on_commit([]() noexcept {
    const std::lock_guard counting(lock);
    ++committed;
  });
}

void work() {
  start.arrive_and_wait();
  for (int n = 0; n < sections; ++n) {
    {
      const std::lock_guard guard(lock);
      ++count;
    }
    {
      const std::lock_guard guard(spin);
      ++spin_count;
    }
    count_elided();
    if (n % 100 == 0) {
      const std::unique_lock guard(table_lock);
      ++table;
    } else {
      const std::shared_lock guard(table_lock);
      if (table < 0) return;  // no thread is done then, and main waits for ever
    }
  }
  const std::lock_guard guard(lock);
  if (++done == threads) all_done.notify_all();
}

}  // namespace

int main() {
  std::vector<std::jthread> workers;
  for (int i = 0; i < threads; ++i) workers.emplace_back(work);
  elided_lock.lock();
  all_counted.wait(elided_lock, [] { return elided == threads * sections; });
  elided_lock.unlock();
  txsync::commit_coarsened();
  {
    std::unique_lock guard(lock);
    all_done.wait(guard, [] { return done == threads; });
  }
  if (committed != threads) return 1;
  if (txsync::machine::htm().attempts && txsync::machine::begin().started()) txsync::machine::end();
  if (txsync::machine::active() || txsync::machine::warm_active()) return 1;

  txsync::observe::site_totals totals[4];
  if (txsync::observe::snapshot(totals, 4) == 0) return 1;
#ifndef SIMULATED  // there load_policy() does not exist
  if (txsync::load_policy("/nowhere/p.toml").empty() || !txsync::load_policy("mutex").empty()) return 1;
#endif
  std::printf("%d %d %d\n", count, spin_count, table);
  return count == threads * sections && spin_count == count && table == threads * sections / 100 ? 0 : 1;
}

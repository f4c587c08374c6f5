// SPDX-License-Identifier: Apache-2.0
// A plug-in that uses the library: WHAT says of what kind.
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <txsync/condition_variable.hpp>
#include <txsync/load_policy.hpp>
#include <txsync/locks/occ_rwlock.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/mutex.hpp>
#include <txsync/observe/counters.hpp>
#include <txsync/shared_mutex.hpp>
#include <txsync/speculate/elided.hpp>
#include <txsync/tm.hpp>

namespace {

template <class Lock>
[[maybe_unused]] void use_lock() {
  static Lock lock;
  for (int i = 0; i < 200; ++i) std::lock_guard held(lock);
}

constinit txsync::tm::block adds{"plugin.adds"};
txsync::tm::var<long> sum{0};
[[maybe_unused]] void use_blocks() {
  for (int i = 0; i < 200; ++i) {
    txsync::tm::atomically(adds, [](auto& tx) { tx.write(sum, tx.read(sum) + 1); });
  }
}

[[maybe_unused]] void use_all() {
  use_lock<txsync::mutex>();
  use_lock<txsync::shared_mutex>();
  use_lock<txsync::ticket_lock>();
  use_lock<txsync::occ_rwlock>();
  use_lock<txsync::elided<txsync::mutex>>();
  use_blocks();
}

/// What looks at all sites of the copy, those of plug-ins that were closed included.
constinit txsync::site named{"plugin.named"};
[[maybe_unused]] void use_sites() {
  static txsync::elided<txsync::mutex> elided(named);
  static txsync::mutex lock(named);
  for (int i = 0; i < 200; ++i) std::scoped_lock held(lock, elided);
  static std::mutex one_at_a_time;
  const std::lock_guard held(one_at_a_time);
  txsync::observe::site_totals totals[64];
  const std::size_t count = txsync::observe::snapshot(totals, 64);
  bool found = false;
  for (std::size_t i = 0; i < count; ++i) found |= std::string_view(totals[i].name) == "plugin.named";
  if (!found || !txsync::load_policy("mutex").empty()) std::puts("the sites are wrong");
}

}  // namespace

extern "C" [[gnu::visibility("default")]] void use_plugin() { WHAT(); }

// SPDX-License-Identifier: Apache-2.0
// A plug-in that uses the library: WHAT says of what kind.
#include <mutex>
#include <shared_mutex>
#include <txsync/condition_variable.hpp>
#include <txsync/locks/occ_rwlock.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/mutex.hpp>
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

}  // namespace

extern "C" [[gnu::visibility("default")]] void use_plugin() { WHAT(); }

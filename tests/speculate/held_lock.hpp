// SPDX-License-Identifier: Apache-2.0
// A lock that another thread holds, on the scripted machine.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include <machine/scripted/script.hpp>
#include <speculate/scoped_site.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/machine/thread.hpp>
#include <txsync/speculate/elided.hpp>

/// Held by another thread from the start; let go when other threads have begun so many attempts. Not on the stack,
/// where an abort would undo what the other thread has done.
struct held_lock {
  /// An elided lock whose holder makes no attempt.
  struct open_lock : txsync::elided<txsync::tatas_lock> {
    using txsync::elided<txsync::tatas_lock>::elided;
    txsync::tatas_lock& inner() noexcept { return this->lock_; }
  };

  txsync::scoped_site place;
  open_lock lock{place};
  txsync::script::machine_script& script;
  std::uint64_t until;
  std::atomic<bool> is_held{false};
  txsync::machine::thread other;

  held_lock(txsync::script::machine_script& on, const txsync::elision_policy& policy, std::uint64_t begins)
      : place(policy), script(on), until(on.counted().begins + begins) {
    const auto holds = [](void* raw) {
      auto& me = *static_cast<held_lock*>(raw);
      me.lock.inner().lock();
      me.is_held.store(true);
      while (me.script.counted().begins < me.until) txsync::machine::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the attempt that has begun finds it held
      me.lock.inner().unlock();
    };
    EXPECT_TRUE(other.start(holds, this));
    while (!is_held.load()) txsync::machine::yield();
  }
  ~held_lock() { other.join(); }
};

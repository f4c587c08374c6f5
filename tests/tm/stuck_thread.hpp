// SPDX-License-Identifier: Apache-2.0
// A block that does not end, for those beside it.
#pragma once

#include <atomic>
#include <thread>

#include <txsync/machine/thread.hpp>
#include <txsync/tm.hpp>

/// A thread that is in the middle of a block, which has written `place`, until it is let go.
class stuck_thread {
 public:
  stuck_thread(txsync::tm::block& where, txsync::tm::var<int>& place)
      : thread_([this, &where, &place] {
          txsync::tm::atomically(where, [&](auto& tx) {
            txsync::machine::yield();
            tx.write(place, 1);
            inside_ = true;
            while (!let_go_) txsync::machine::yield();  // which aborts an attempt
          });
        }) {
    while (!inside_) std::this_thread::yield();
  }
  ~stuck_thread() { end(); }
  void end() {
    let_go_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::atomic<bool> inside_{false};
  std::atomic<bool> let_go_{false};
  std::thread thread_;
};

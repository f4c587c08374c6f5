// SPDX-License-Identifier: Apache-2.0
// Reader-writer locks that are wrong on purpose, each in one way. They are a right lock with parts that can be taken
// out. It lets a writer in only when no reader happens to be inside.
#pragma once

#include <atomic>

#include <txsync/machine/thread.hpp>

namespace broken {

enum class without { nothing, readers_together, waiting_for_readers, waiting_for_the_writer, counting };

template <without Part>
class shared_lock {
 public:
  void lock() {
    while (!try_lock()) txsync::machine::yield();
  }
  bool try_lock() {
    long expected = 0;
    if constexpr (Part == without::waiting_for_readers) {
      expected = readers_.load();
      if (expected < 0) return false;
      return !writing_.exchange(true);
    }
    return readers_.compare_exchange_strong(expected, -1);
  }
  void unlock() {
    if constexpr (Part == without::waiting_for_readers) {
      writing_ = false;
    } else {
      readers_ = 0;
    }
  }

  void lock_shared() {
    while (!try_lock_shared()) txsync::machine::yield();
  }
  bool try_lock_shared() {
    if constexpr (Part == without::readers_together) return try_lock();
    if constexpr (Part == without::waiting_for_readers) {
      if (writing_) return false;
    }
    long seen = readers_.load();
    while (Part == without::waiting_for_the_writer || seen >= 0) {
      if (readers_.compare_exchange_strong(seen, seen + 1)) return true;
    }
    return false;
  }
  void unlock_shared() {
    if constexpr (Part == without::readers_together) return unlock();
    if constexpr (Part == without::counting) {
      readers_ = 0;  // the last reader only should do that
    } else {
      --readers_;
    }
  }

 private:
  std::atomic<long> readers_{0};  // -1 is a writer
  std::atomic<bool> writing_{false};
};

}  // namespace broken

// SPDX-License-Identifier: Apache-2.0
// Read and write sections, for explorations of reader-writer locks.
#pragma once

#include <cstdint>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/thread.hpp>

#include "explorations/exploration.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::explorations {

/// Writers make a system call, which aborts attempts. So they hold the lock, and readers are elided beside them.
template <class Lock>
class calling_shared : public Lock {
 public:
  void lock() noexcept {
    Lock::lock();
    machine::yield();
  }
};

enum class entry : std::uint8_t {
  waits,
  tries,
  hurries,  ///< readers have deadlines, and try again
  all_hurry
};

template <class Lock, entry how>
void enter_shared(Lock& lock) noexcept {
  if constexpr (how == entry::waits) lock.lock_shared();
  if constexpr (how == entry::tries) {
    while (!lock.try_lock_shared()) machine::relax();
  }
  if constexpr (how == entry::hurries || how == entry::all_hurry) {
    hurry([&](std::uint64_t until) noexcept { return lock.try_lock_shared_until_ns(until); });
  }
}

/// Sections that write two numbers, and sections that read both, in turn.
template <class Lock, unsigned threads, unsigned sections, entry how = entry::waits>
struct read_write_test {
  Lock lock{};
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::uint32_t inside = 0;
  bool met = false;

  void write() noexcept {
    if constexpr (how == entry::tries) {
      while (!lock.try_lock()) machine::relax();
    } else if constexpr (how == entry::all_hurry) {
      hurry([&](std::uint64_t until) noexcept { return lock.try_lock_until_ns(until); });
    } else {
      lock.lock();
    }
    if (inside != 0) met = true;
    inside = 1;
    ++first;
    ++second;
    inside = 0;
    lock.unlock();
  }
  void read() noexcept {
    enter_shared<Lock, how>(lock);
    const std::uint64_t seen = first;
    if (inside != 0 || second != seen) met = true;
    lock.unlock_shared();
  }
  static bool writes(unsigned index, unsigned section) noexcept { return (index + section) % 2 == 0; }
  static void body(read_write_test& me, unsigned index) {
    for (unsigned i = 0; i < sections; ++i) writes(index, i) ? me.write() : me.read();
  }
  const char* check() const {
    std::uint64_t written = 0;
    for (unsigned index = 0; index < threads; ++index) {
      for (unsigned i = 0; i < sections; ++i) written += writes(index, i) ? 1 : 0;
    }
    if (met) return "a thread met a writer in its section";
    if constexpr (requires { lock.has_writer(); }) {
      if (lock.has_writer() || lock.readers() != 0) return "the lock is not free at the end";
    }
    return first != written || second != written ? "an update was lost" : nullptr;
  }
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::explorations

// SPDX-License-Identifier: Apache-2.0
// Waiting threads: for a time (a binary heap by deadline), and at a futex word (a list by address).
#pragma once

#include "failure.hpp"
#include "fiber.hpp"

namespace txsync::sim {

class waiters_by_deadline {
 public:
  void set_up() noexcept;
  ticks first() const noexcept { return size_ != 0 ? heap_[0]->deadline : never; }
  /// Requires: there is one.
  const thread_record& first_thread() const noexcept {
    TXSYNC_SIM_ASSERT(size_ != 0, "somebody waits for a deadline");
    return *heap_[0];
  }
  void add(thread_record& thread) noexcept;
  /// Requires: the thread was added, and its deadline has not changed.
  void remove(thread_record& thread) noexcept;
  thread_record& take_first() noexcept;

 private:
  static bool before(const thread_record& a, const thread_record& b) noexcept {
    return a.deadline != b.deadline ? a.deadline < b.deadline : a.id < b.id;
  }
  void put(unsigned slot, thread_record& thread) noexcept;
  void sift_up(unsigned slot) noexcept;
  void sift_down(unsigned slot) noexcept;

  thread_record** heap_ = nullptr;
  unsigned size_ = 0;
};

/// The running thread waits at this word until futex_wake() or the deadline. True if it was woken.
bool futex_wait(const void* word, ticks deadline) noexcept;
/// Wakes the `count` threads that have waited longest at this word. Returns how many there were.
unsigned futex_wake(const void* word, unsigned count) noexcept;
/// The thread's deadline has come: it no longer waits at a word.
void futex_forget(thread_record& thread) noexcept;

}  // namespace txsync::sim

// SPDX-License-Identifier: Apache-2.0
// What the models of other libraries' mutexes share: sleeping threads in a queue of the lock's own.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/thread.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// A thread in the queue; lies in that thread's frame. It sleeps until another thread gives it a word other than 0.
class sleeper {
 public:
  std::uint32_t sleep() noexcept {
    // acquire: pairs with wake()
    for (std::uint32_t word = word_.load(std::memory_order_acquire);; word = word_.load(std::memory_order_acquire)) {
      if (word != 0) return word;
      machine::park(word_, 0);
    }
  }
  /// The sleeper may be gone when this returns.
  void wake(std::uint32_t word) noexcept {
    word_.store(word, std::memory_order_release);  // pairs with sleep()
    machine::unpark(word_, 1);
  }

 private:
  friend class wait_queue;
  sleeper* next_ = nullptr;
  std::atomic<std::uint32_t> word_{0};
};

/// All calls but hold() require that the queue is held.
class wait_queue {
 public:
  class holder {
   public:
    explicit holder(wait_queue& queue) noexcept : queue_(queue) { queue.lock(); }
    holder(const holder&) = delete;
    holder& operator=(const holder&) = delete;
    ~holder() { queue_.busy_.store(false, std::memory_order_release); }  // pairs with the exchange in lock()

   private:
    wait_queue& queue_;
  };

  void push_back(sleeper& one) noexcept {
    (first_ == nullptr ? first_ : last_->next_) = &one;
    last_ = &one;
  }
  void push_front(sleeper& one) noexcept {
    one.next_ = first_;
    if (first_ == nullptr) last_ = &one;
    first_ = &one;
  }
  sleeper* pop() noexcept {
    sleeper* const one = first_;
    if (one != nullptr) first_ = one->next_;
    return one;
  }
  bool empty() const noexcept { return first_ == nullptr; }

 private:
  void lock() noexcept {
    // acquire: pairs with the holder's end
    for (unsigned tries = 1; busy_.exchange(true, std::memory_order_acquire); ++tries) {
      tries % 64 == 0 ? machine::yield() : machine::relax();
    }
  }

  std::atomic<bool> busy_{false};
  sleeper* first_ = nullptr;
  sleeper* last_ = nullptr;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

// SPDX-License-Identifier: Apache-2.0
// Where waiters with a number sleep: not on the lock, but on a word that lock and number select. Two numbers on one
// word now and then wake each other unnecessarily (a waiting array as in Dice and Kogan's TWA, EuroSys 2019). The words
// are never freed. So a wake-up may follow the release of a lock that its next owner has destroyed since.
#pragma once

#include <atomic>
#include <cstdint>

#include <txsync/machine/park.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::detail {

class sleeping_place {
 public:
  constexpr sleeping_place() noexcept = default;

  /// To be read before the read that decides whether to sleep. The acquire pairs with the release in wake(): a thread
  /// that sees the change also sees what changed before it.
  std::uint32_t ticket() const noexcept { return word_.load(std::memory_order_acquire); }
  /// Sleeps unless wake() was called since ticket().
  machine::park_result sleep(std::uint32_t ticket, std::uint64_t deadline_ns) noexcept {
    return machine::park(word_, ticket, deadline_ns);
  }
  void wake() noexcept {
    word_.fetch_add(1, std::memory_order_seq_cst);
    machine::unpark(word_, machine::everyone);
  }

  /// The calling thread waits here, asleep or not, until it leaves. In the child of a fork, threads of the parent do
  /// not count.
  void enter() noexcept;
  void leave() noexcept;
  /// False: no thread of this process waits here.
  bool is_in_use() const noexcept;

 private:
  std::atomic<std::uint32_t> word_{0};
  std::atomic<std::uint64_t> waiters_{0};  // fork_count(); in the low half, how many entered since that fork
};

/// The place of that number of that lock.
sleeping_place& place_of(const void* lock, std::uint32_t number) noexcept;
/// The place of that lock's waiters without a number. No number uses it. So a living waiter of one kind is never
/// mistaken for a dead one of the other.
sleeping_place& place_aside_of(const void* lock) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::detail

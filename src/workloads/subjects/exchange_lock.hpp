// SPDX-License-Identifier: Apache-2.0
// The locks of the thesis on TSX in InnoDB (2.4): a word that is exchanged until it was free, in the variants that it
// compared. For the simulated machine. These locks are for study, not for use.
#pragma once

#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>

#include <atomic>
#include <cstdint>

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

enum class acquisition : std::uint8_t { plain, by_prefix };
enum class spinning : std::uint8_t { exchanges, reads };
/// A test-and-set is an exchange and a comparison (hle-emulation.h; thesis 2.4.4 and C.5).
enum class asking : std::uint8_t { for_zero, for_one };

/// Waiters go on exchanging (thesis 2.4.3: TAS), or read until the lock looks free (TAS-T). With the prefix, each
/// exchange is first an elision; if that aborts, it is an ordinary exchange with its store.
template <acquisition How, spinning Wait, class Word = std::uint32_t, asking Test = asking::for_zero>
class exchange_lock {
 public:
  struct slot {};

  void lock(slot&) noexcept {
    while (is_taken(take())) {
      do {
        machine::relax();  // ends an elision that has found the lock held
      } while (Wait == spinning::reads && is_held());
    }
  }
  void unlock(slot&) noexcept {
    if constexpr (How == acquisition::by_prefix) {
      machine::hle_release(word_, 0);
    } else {
      word_.store(0, std::memory_order_release);  // pairs with the exchange in take()
    }
  }

 protected:
  bool is_held() const noexcept {
    return word_.load(std::memory_order_relaxed) != 0;  // relaxed: the exchange that follows decides
  }

 private:
  static bool is_taken(Word before) noexcept { return Test == asking::for_one ? before == 1 : before != 0; }
  Word take() noexcept {
    if constexpr (How == acquisition::by_prefix) {
      return machine::hle_acquire(word_, 1);
    } else {
      return word_.exchange(1, std::memory_order_acquire);  // pairs with the store in unlock()
    }
  }

  std::atomic<Word> word_{0};
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

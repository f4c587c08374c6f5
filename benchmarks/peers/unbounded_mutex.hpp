// SPDX-License-Identifier: Apache-2.0
// futex_mutex as it was before its waiters had a bound: the cost of the bound is measured against it. The first waiter
// that has spun without success watches the lock, and sleeps between two looks. The others sleep until a thread that
// had to wait wakes the next. A running thread may take the lock before the watcher looks, any number of times.
// Left out: deadlines, forks, and the functions for types built on it.
#pragma once

#include <cstdint>

#include <txsync/machine/restartable.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

class unbounded_mutex {
 public:
  void lock() noexcept {
    if (!acquire_if_free()) [[unlikely]]
      lock_slow();
  }
  void unlock() noexcept {
    if (!machine::release_unless_waited(word_, released(std::uint64_t{machine::holders_byte(word_)} << 8))) [[unlikely]]
      unlock_slow();
  }

 private:
  // The holder's 16 bits: held, and how often the lock was given up.
  static constexpr std::uint64_t held = 1;
  static constexpr std::uint64_t turn = 0x100;
  static constexpr std::uint64_t turn_bits = 0xFF00;
  static constexpr std::uint64_t holders_bits = 0xFFFF;
  // The waiters' 32 bits: how many sleep; "a wake-up is under way"; and, as the sign, "a thread watches".
  static constexpr std::uint64_t sleeper = std::uint64_t{1} << 32;
  static constexpr std::uint64_t sleepers_bits = std::uint64_t{0x3FFF'FFFF} << 32;
  static constexpr std::uint64_t waking = std::uint64_t{1} << 62;
  static constexpr std::uint64_t watched = std::uint64_t{1} << 63;

  static constexpr std::uint16_t released(std::uint64_t seen) noexcept {
    return static_cast<std::uint16_t>((seen + turn) & turn_bits);
  }
  bool acquire_if_free() noexcept {
    return machine::take_if_free(word_);  // pairs with the release of release_unless_waited() and unlock_slow()
  }
  enum class outcome : std::uint8_t { got_lock, watch, sleep };
  bool take(std::uint64_t& seen, std::uint64_t changed) noexcept;
  bool spin(std::uint64_t budget, std::uint64_t taken_back) noexcept;
  outcome become_watcher() noexcept;
  outcome watch() noexcept;
  outcome sleep(std::uint64_t taken_back) noexcept;
  void lock_slow() noexcept;
  void unlock_slow() noexcept;

  machine::lock_word word_{0};
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

// SPDX-License-Identifier: Apache-2.0
// The launcher's answers, by a hash of what was asked for: open addressing, never emptied, shared by all threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

/// One step of a hash over addresses.
constexpr std::uint64_t mixed(std::uint64_t so_far, std::uint64_t more) noexcept {
  const std::uint64_t product = (so_far ^ more) * 0x9E3779B97F4A7C15u;
  return product ^ product >> 29;
}

/// Holds `most` answers; room for twice as many keeps searches short. Hashes and answers are never 0.
template <std::size_t most>
class known_answers {
 public:
  static constexpr std::size_t slots = 2 * most;
  static constexpr std::size_t max_search_steps = 64;

  /// 0: not known.
  std::uint64_t find(std::uint64_t hash) const noexcept {
    for (std::size_t step = 0; step < max_search_steps; ++step) {
      const entry& slot = table_[(hash + step) % slots];
      // relaxed, here and below: hash and answer are numbers; nothing else is read because of them
      const std::uint64_t found_hash = slot.hash.load(std::memory_order_relaxed);
      if (found_hash == hash) return slot.answer.load(std::memory_order_relaxed);
      if (found_hash == 0) return 0;
    }
    return 0;
  }

  bool is_full() const noexcept { return count_.load(std::memory_order_relaxed) >= most; }

  /// False, with no effect, if there is no room.
  bool remember(std::uint64_t hash, std::uint64_t answer) noexcept {
    if (is_full()) return false;
    for (std::size_t step = 0; step < max_search_steps; ++step) {
      entry& slot = table_[(hash + step) % slots];
      std::uint64_t expected = 0;
      const bool is_new = slot.hash.compare_exchange_strong(expected, hash, std::memory_order_relaxed);
      if (!is_new && expected != hash) continue;
      if (is_new) count_.fetch_add(1, std::memory_order_relaxed);
      slot.answer.store(answer, std::memory_order_relaxed);
      return true;
    }
    return false;
  }

 private:
  struct entry {
    std::atomic<std::uint64_t> hash{0};
    std::atomic<std::uint64_t> answer{0};  // stored after the hash: 0 until then
  };
  entry table_[slots] = {};
  std::atomic<std::size_t> count_{0};
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

// SPDX-License-Identifier: Apache-2.0
// The results of find_site() and decide() for mutexes that the innermost call alone decides about. So a mutex that
// lives for one critical section need not pay for both. Nor is a step of a walk up the stack needed. The first address
// of a call chain is the return address of pthread_mutex_init or pthread_mutex_lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <txsync_backend/name.hpp>

#include "known_answers.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

/// The bits of a lock_tag by return address. An address replaces another one with the same slot.
template <std::size_t slots>
class tags_by_call {
 public:
  /// 0: not known.
  std::uint16_t find(std::uintptr_t call) const noexcept {
    // relaxed, here and below: the word holds everything
    const std::uint64_t word = table_[slot_of(call)].load(std::memory_order_relaxed);
    return word >> tag_bits == call ? static_cast<std::uint16_t>(word) : std::uint16_t{0};
  }
  /// Does nothing if the address has more than 48 bits.
  void remember(std::uintptr_t call, std::uint16_t tag) noexcept {
    if (call >> (64 - tag_bits) == 0)
      table_[slot_of(call)].store(std::uint64_t{call} << tag_bits | tag, std::memory_order_relaxed);
  }
  void forget() noexcept {
    for (std::atomic<std::uint64_t>& one : table_) one.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr unsigned tag_bits = 16;
  static std::size_t slot_of(std::uintptr_t call) noexcept { return mixed(0, call) % slots; }
  std::atomic<std::uint64_t> table_[slots] = {};  // the address, and in the low bits the tag
};

/// The tag of a normal or adaptive mutex that no attribute leaves to the C library. The call that returns to that
/// address makes the mutex, or takes it first. 0: not known, or the mutex is in static storage, where the object
/// decides.
/// Cost: some 3 ns if it lies on the stack or on the main heap, 10 ns elsewhere.
std::uint16_t known_tag(std::uintptr_t call, const void* mutex) noexcept;
/// `call` alone decides about such mutexes: site_answer::call.
void remember_tag(std::uintptr_t call, std::uint16_t tag) noexcept;
/// All such mutexes have this tag: site_answer::is_for_all.
void remember_tag_of_all(std::uint16_t tag) noexcept;
/// Code was unloaded, and other code may get these addresses.
void forget_tags() noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

// SPDX-License-Identifier: Apache-2.0
#include "identity.hpp"

#include <atomic>

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

constinit thread_local std::uint32_t my_number = no_thread;

namespace {

/// The last numbers that the thread of a child had in its parent and further back. Its locks hold these. relaxed, all:
/// written by the child's only thread, and by a new thread that takes one of the numbers.
constexpr std::uint32_t max_former = 8;
constinit std::atomic<std::uint32_t> former[max_former] = {};
constinit std::atomic<std::uint32_t> former_given{0};
/// The thread that had them.
constinit std::atomic<std::uint32_t> heir{no_thread};

std::uint32_t number_of_our_own() noexcept {
  static constinit std::atomic<std::uint32_t> given{0};
  // relaxed: only the number matters. After 2^30 threads numbers repeat.
  return first_own_number + given.fetch_add(1, std::memory_order_relaxed) % (no_thread - first_own_number);
}

/// The parent's thread has ended, and the kernel has given its number to a thread of this process.
void forget_former(std::uint32_t number) noexcept {
  for (std::atomic<std::uint32_t>& one : former) {
    if (one.load(std::memory_order_relaxed) == number) one.store(0, std::memory_order_relaxed);
  }
}

}  // namespace

std::uint32_t number_thread() noexcept {
  const std::uint32_t told = kernels_thread_number();
  my_number = told != 0 && told < first_own_number ? told : number_of_our_own();
  forget_former(my_number);
  return my_number;
}

void renew_identity() noexcept {
  const std::uint32_t before = my_number;
  if (before == no_thread) return;
  if (heir.load(std::memory_order_relaxed) != before) {
    for (std::atomic<std::uint32_t>& one : former) one.store(0, std::memory_order_relaxed);
  }
  heir.store(number_thread(), std::memory_order_relaxed);
  if (before == my_number) return;
  const std::uint32_t slot = former_given.fetch_add(1, std::memory_order_relaxed) % max_former;
  former[slot].store(before, std::memory_order_relaxed);
}

bool was_callers(std::uint32_t owner, const void* lock) noexcept {
  if (my_number != heir.load(std::memory_order_relaxed)) return false;
  for (const std::atomic<std::uint32_t>& one : former) {
    if (one.load(std::memory_order_relaxed) == owner) return !is_shared_memory(lock);
  }
  return false;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

// SPDX-License-Identifier: Apache-2.0
#include "stack_frames.hpp"

#include <atomic>
#include <cstddef>

#include "call_chain.hpp"
#include "known_answers.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

#ifdef __x86_64__
constexpr bool is_below_frame = true;
#else
constexpr bool is_below_frame = false;
#endif

// A known frame in one word, so that it is read at once: the return address into it, and its size in words.
constexpr unsigned size_bits = 16;
constexpr std::uint64_t size_varies = 0xFFFF;
constexpr std::size_t table_size = 1u << 14;
constexpr std::size_t max_search_steps = 8;
constinit std::atomic<std::uint64_t> frames[table_size] = {};

constinit std::atomic<std::uintptr_t> own_begin{0};
constinit std::atomic<std::uintptr_t> own_end{0};

/// The part of the thread's stack that its last unwinding passed.
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uintptr_t seen_from = 0;
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uintptr_t seen_to = 0;

std::size_t first_place(std::uintptr_t address) noexcept { return mixed(0, address) % table_size; }

/// The size in words; 0: not known, or it varies.
std::uint64_t size_of_frame(std::uintptr_t address) noexcept {
  for (std::size_t step = 0; step < max_search_steps; ++step) {
    // relaxed, here and below: the word is all there is
    const std::uint64_t word = frames[(first_place(address) + step) % table_size].load(std::memory_order_relaxed);
    if (word == 0) return 0;
    if (word >> size_bits != address) continue;
    const std::uint64_t size = word & size_varies;
    return size == size_varies ? 0 : size;
  }
  return 0;
}

/// If there is no room the frame stays unknown.
void remember_frame(std::uintptr_t address, std::uint64_t size) noexcept {
  if (address >> (64 - size_bits) != 0 || size >= size_varies) return;
  for (std::size_t step = 0; step < max_search_steps; ++step) {
    std::atomic<std::uint64_t>& slot = frames[(first_place(address) + step) % table_size];
    std::uint64_t kept = slot.load(std::memory_order_relaxed);
    const std::uint64_t word = std::uint64_t{address} << size_bits | size;
    if (kept == 0 && slot.compare_exchange_strong(kept, word, std::memory_order_relaxed)) return;
    if (kept >> size_bits != address) continue;
    if (kept != word) slot.store(kept | size_varies, std::memory_order_relaxed);
    return;
  }
}

}  // namespace

void stack_reader::met(std::uintptr_t address, std::uintptr_t end_of_called) noexcept {
  if (!is_below_frame) return;
  const std::uintptr_t slot = end_of_called - sizeof(std::uintptr_t);
  // Another order means another stack: that of a signal handler.
  is_one_stack_ = is_one_stack_ && slot > highest_;
  // Not so if a signal came in between.
  const bool is_there = is_one_stack_ && *reinterpret_cast<const std::uintptr_t*>(slot) == address;
  if (is_there && last_slot_ != 0) remember_frame(last_address_, (slot - last_slot_) / sizeof(std::uintptr_t));
  last_address_ = address;
  last_slot_ = is_there ? slot : 0;
  if (lowest_ == 0) lowest_ = slot;
  if (is_one_stack_) highest_ = slot;
}

void stack_reader::finish(std::uintptr_t begin, std::uintptr_t end) noexcept {
  seen_from = is_one_stack_ ? lowest_ : 0;
  seen_to = is_one_stack_ ? highest_ : 0;
  // relaxed: all threads store the same, and a walk that reads 0 stops
  own_end.store(end, std::memory_order_relaxed);
  own_begin.store(begin, std::memory_order_relaxed);
}

void forget_frames() noexcept {
  for (std::atomic<std::uint64_t>& one : frames) one.store(0, std::memory_order_relaxed);
}

quick_walk::quick_walk(const void* frame) noexcept {
  if (is_below_frame && own_begin.load(std::memory_order_relaxed) != 0)
    at_ = static_cast<const std::uintptr_t*>(frame) + 1;  // after the saved frame pointer
}

std::uintptr_t quick_walk::next() noexcept {
  for (;;) {
    // The stack may end beyond the part that unwinding has passed.
    if (at_ == nullptr || reinterpret_cast<std::uintptr_t>(at_) > seen_to) return 0;
    const std::uintptr_t address = *at_;
    const std::uint64_t size = size_of_frame(address);
    at_ = size != 0 ? at_ + size : nullptr;
    if (address < own_begin.load(std::memory_order_relaxed) || address >= own_end.load(std::memory_order_relaxed))
      return address;
  }
}

bool is_on_stack(const void* object) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(object);
  return address >= seen_from && address < seen_to;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

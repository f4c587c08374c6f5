// SPDX-License-Identifier: Apache-2.0
#include "elision.hpp"

#include <cstring>

#include "access.hpp"

namespace txsync::sim {

namespace {

// Both machines are little-endian.
std::uint64_t value_at(std::uintptr_t address, unsigned bytes) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(address), bytes);
  return value;
}
void put(std::uintptr_t address, unsigned bytes, std::uint64_t value) noexcept {
  std::memcpy(reinterpret_cast<void*>(address), &value, bytes);
}

/// What the instruction does without the prefix, and after an abort.
std::uint64_t exchange(const elision_word& word, std::uint64_t value) noexcept {
  // As for any exchange, misses after it do not overlap with misses before it.
  if (state.current != nullptr) state.current->overlaps_until = 0;
  access<true>(reinterpret_cast<const void*>(word.address), word.bytes, word.site);
  if (state.current != nullptr) state.current->overlaps_until = 0;
  if (state.charged != nullptr) charge(*state.charged, state.model.core_atomic);
  const std::uint64_t old = value_at(word.address, word.bytes);
  put(word.address, word.bytes, value);
  return old;
}

void store(const elision_word& word, std::uint64_t value) noexcept {
  access<true, true>(reinterpret_cast<const void*>(word.address), word.bytes, word.site);
  put(word.address, word.bytes, value);
}

/// The lock with that address that the attempt has elided last; null if there is none.
elided_lock* find_elided(attempt& tx, std::uintptr_t address) noexcept {
  for (unsigned i = tx.elided_count; i-- != 0;) {
    if (tx.elided[i].address == address) return &tx.elided[i];
  }
  return nullptr;
}

/// Restores an elided lock. The program must leave the whole word as it was, or the elision fails (16.3.3).
void give_back(attempt& tx, elided_lock* lock, const elision_word& word, std::uint64_t value) noexcept {
  if (value != lock->outside || word.bytes != lock->bytes) abort_self({.why = cause::unfriendly_instruction});
  put(lock->address, lock->bytes, lock->outside);
  const elided_lock* const end = tx.elided + tx.elided_count--;
  for (; lock + 1 != end; ++lock) *lock = lock[1];
}

}  // namespace

void show_elided_locks(thread_record& thread) noexcept {
  for (unsigned i = 0; i < thread.tx.elided_count; ++i) {
    const elided_lock& lock = thread.tx.elided[i];
    put(lock.address, lock.bytes, lock.inside);
  }
}

void hide_elided_locks(thread_record& thread) noexcept {
  for (unsigned i = thread.tx.elided_count; i-- != 0;) {
    const elided_lock& lock = thread.tx.elided[i];
    put(lock.address, lock.bytes, lock.outside);
  }
}

}  // namespace txsync::sim

using namespace txsync::sim;

extern "C" {
std::uint32_t txsync_sim_begin_by_prefix(void);
void txsync_sim_end(void);
}

namespace txsync::sim {

std::uint64_t acquire_by_prefix(const elision_word& word, std::uint64_t value) noexcept {
  if (state.current == nullptr || state.model.htm_hle == 0) return exchange(word, value);
  if (txsync_sim_begin_by_prefix() != started) return exchange(word, value);
  attempt& tx = state.current->tx;
  // A lock beyond those that the CPU can remember counts as a level, and its store is an ordinary one of the attempt.
  if (tx.elided_count >= state.model.htm_hle_locks || tx.elided_count == max_elided) return exchange(word, value);
  if (word.address >> state.line_shift != (word.address + word.bytes - 1) >> state.line_shift) {
    abort_self({.why = cause::unfriendly_instruction, .address = word.address});
  }
  access<false>(reinterpret_cast<const void*>(word.address), word.bytes, word.site);
  charge(*state.current, state.model.core_atomic);  // the prefix saves the store, not the locked instruction
  const std::uint64_t old = value_at(word.address, word.bytes);
  tx.elided[tx.elided_count++] = {word.address, word.bytes, old, value};
  put(word.address, word.bytes, value);
  return old;
}

void release_by_prefix(const elision_word& word, std::uint64_t value) noexcept {
  attempt* tx = state.current != nullptr ? &state.current->tx : nullptr;
  if (tx == nullptr || !tx->by_prefix) return store(word, value);
  if (elided_lock* const lock = find_elided(*tx, word.address)) {
    scheduling_point();
    charge(*state.current, state.model.core_atomic);
    give_back(*tx, lock, word, value);
  } else {
    store(word, value);
  }
  if (tx->depth == 1) {
    if (tx->elided_count != 0) abort_self({.why = cause::unfriendly_instruction});  // one is left unreleased
    tx->by_prefix = false;
  }
  txsync_sim_end();
}

}  // namespace txsync::sim

extern "C" {

std::uint64_t txsync_sim_hle_acquire(void* word, unsigned bytes, std::uint64_t value) {
  const auto site = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  return acquire_by_prefix({reinterpret_cast<std::uintptr_t>(word), bytes, site}, value);
}

void txsync_sim_hle_release(void* word, unsigned bytes, std::uint64_t value) {
  const auto site = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  release_by_prefix({reinterpret_cast<std::uintptr_t>(word), bytes, site}, value);
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
#include "elision.hpp"

#include "access.hpp"

namespace txsync::sim {

void show_elided_locks(thread_record& thread) noexcept {
  for (unsigned i = 0; i < thread.tx.elided_count; ++i) *thread.tx.elided[i].word = thread.tx.elided[i].inside;
}

void hide_elided_locks(thread_record& thread) noexcept {
  for (unsigned i = thread.tx.elided_count; i-- != 0;) *thread.tx.elided[i].word = thread.tx.elided[i].outside;
}

}  // namespace txsync::sim

using namespace txsync::sim;

extern "C" {

std::uint32_t txsync_sim_begin_by_prefix(void);
void txsync_sim_end(void);

/// What the instruction is without the prefix, and after an abort.
static std::uint32_t exchange(std::uint32_t* word, std::uint32_t value, std::uintptr_t site) {
  access<true>(word, sizeof *word, site);
  if (state.current != nullptr) charge(*state.current, state.model.core_atomic);
  const std::uint32_t old = *word;
  *word = value;
  return old;
}

std::uint32_t txsync_sim_hle_acquire(std::uint32_t* word, std::uint32_t value) {
  const auto site = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  if (state.current == nullptr || state.model.htm_hle == 0) return exchange(word, value, site);
  attempt& tx = state.current->tx;
  // Beyond the locks that the CPU remembers the prefix is ignored: the store is one of the attempt.
  if (tx.elided_count >= state.model.htm_hle_locks || tx.elided_count == most_elided)
    return exchange(word, value, site);
  if (txsync_sim_begin_by_prefix() != started) return exchange(word, value, site);
  access<false>(word, sizeof *word, site);
  charge(*state.current, state.model.core_atomic);  // the prefix saves the store, not the locked instruction
  const std::uint32_t old = *word;
  tx.elided[tx.elided_count++] = {word, old, value};
  *word = value;
  return old;
}

void txsync_sim_hle_release(std::uint32_t* word, std::uint32_t value) {
  const auto site = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  attempt* tx = state.current != nullptr ? &state.current->tx : nullptr;
  if (tx == nullptr || tx->elided_count == 0 || tx->elided[tx->elided_count - 1].word != word) {
    exchange(word, value, site);
    return;
  }
  scheduling_point();
  charge(*state.current, state.model.core_atomic);
  // The lock has to be left as it was found, or the elision was none (16.3.3).
  const elided_lock lock = tx->elided[tx->elided_count - 1];
  if (value != lock.outside) abort_self({.why = cause::unfriendly_instruction});
  *word = lock.outside;
  --tx->elided_count;
  if (tx->depth == 1) tx->by_prefix = false;
  txsync_sim_end();
}

}  // extern "C"

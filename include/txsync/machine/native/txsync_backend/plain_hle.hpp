// SPDX-License-Identifier: Apache-2.0
// Machines without HLE: the same accesses without the hint.
#pragma once

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

template <hle_word Word>
inline Word hle_acquire(std::atomic<Word>& word, std::type_identity_t<Word> value) noexcept {
  return word.exchange(value, std::memory_order_acquire);  // pairs with hle_release
}
template <hle_word Word>
inline void hle_release(std::atomic<Word>& word, std::type_identity_t<Word> value) noexcept {
  word.store(value, std::memory_order_release);  // pairs with hle_acquire
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

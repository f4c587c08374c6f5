// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace txsync::inline TXSYNC_BACKEND::machine {

inline bool release_unless_waited(lock_word& word, std::uint16_t value) noexcept {
  return detail::release_by_exchange(word, value);
}

}  // namespace txsync::inline TXSYNC_BACKEND::machine

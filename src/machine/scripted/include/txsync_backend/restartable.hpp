// SPDX-License-Identifier: Apache-2.0
// A compare-exchange, which the script may interrupt as the system would.
#pragma once

namespace txsync::inline TXSYNC_BACKEND::machine {

namespace detail {
bool scripted_interruption() noexcept;
}

inline bool release_unless_waited(lock_word& word, std::uint16_t value) noexcept {
  if (detail::scripted_interruption()) return false;
  return detail::release_by_exchange(word, value);
}

}  // namespace txsync::inline TXSYNC_BACKEND::machine

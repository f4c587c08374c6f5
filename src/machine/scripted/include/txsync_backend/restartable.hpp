// SPDX-License-Identifier: Apache-2.0
// A compare-exchange that the script may interrupt, as the system would.
#pragma once

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

namespace detail {
bool scripted_interruption() noexcept;
}

inline bool release_unless_waited(lock_word& word, std::uint16_t value) noexcept {
  if (detail::scripted_interruption()) return false;
  return detail::release_by_exchange(word, value);
}

inline bool take_if_free(lock_word& word) noexcept { return detail::take_whole_if_free(word); }

inline bool is_taken(const lock_word& word) noexcept { return detail::is_whole_taken(word); }

inline std::uint32_t holders_byte(const lock_word& word) noexcept { return detail::holders_byte_of_whole(word); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

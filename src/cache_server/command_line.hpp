// SPDX-License-Identifier: Apache-2.0
// A line of memcached's text protocol, split into words as memcached does it.
#pragma once

#include <cstdint>
#include <string_view>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::cache_server {

/// The words of a line, separated by blanks. A line ends at its first NUL.
class words {
 public:
  static constexpr unsigned most = 8;  ///< more than any command has, except get

  explicit words(std::string_view line) noexcept;

  /// The number of all words. Words after the first `most` are not kept.
  unsigned count() const noexcept { return count_; }
  std::string_view operator[](unsigned index) const noexcept { return word_[index]; }
  /// Whether the last word asks for no answer.
  bool noreply() const noexcept { return count_ > 1 && last_ == "noreply"; }

 private:
  std::string_view word_[most];
  std::string_view last_;
  unsigned count_ = 0;
};

/// Removes the next word from the front of `text` and returns it; empty at the end of the text.
std::string_view take_word(std::string_view& text) noexcept;

/// False if the word is not a number of this kind.
bool number_of(std::string_view word, std::uint64_t& number) noexcept;
bool seconds_of(std::string_view word, std::int64_t& number) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cache_server

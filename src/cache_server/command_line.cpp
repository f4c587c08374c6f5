// SPDX-License-Identifier: Apache-2.0
#include "cache_server/command_line.hpp"

#include <algorithm>

#include "workloads/cache/numbers.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cache_server {

std::string_view take_word(std::string_view& text) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

words::words(std::string_view line) noexcept {
  line = line.substr(0, line.find('\0'));
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
    if (count_ < most) word_[count_] = word;
    ++count_;
    last_ = word;
  }
}

bool number_of(std::string_view word, std::uint64_t& number) noexcept {
  return workloads::cache::read_number(word.data(), word.size(), number);
}

bool seconds_of(std::string_view word, std::int64_t& number) noexcept {
  workloads::cache::signed_number seen;
  constexpr std::uint64_t most = ~std::uint64_t{0} >> 1;
  if (!workloads::cache::read_signed(word.data(), word.size(), seen) || seen.amount > most) return false;
  const auto amount = static_cast<std::int64_t>(seen.amount);
  number = seen.negative ? -amount : amount;
  return true;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cache_server

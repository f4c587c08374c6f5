// SPDX-License-Identifier: Apache-2.0
// Reads lines and values. The commands themselves are in commands.cpp.
#include "cache_server/conversation.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace txsync::TXSYNC_INLINE_BACKEND::cache_server {

namespace {

/// The longest line, except for a get of many keys. A client that sends more without a line end is disconnected, as by
/// memcached.
constexpr std::size_t max_line_bytes = 2048;
/// The longest line of a get of many keys.
constexpr std::size_t max_get_bytes = std::size_t{1} << 20;

bool is_get(std::string_view begin) noexcept {
  const std::size_t blanks = std::min(begin.find_first_not_of(' '), begin.size());
  begin.remove_prefix(blanks);
  return blanks <= 100 && (begin.starts_with("get ") || begin.starts_with("gets "));
}

}  // namespace

bool conversation::answer(std::string& out, std::size_t most) {
  now_ = with_.clock.now();
  while (!over_ && out.size() < most && step(out)) {
  }
  in_.erase(0, at_);
  at_ = 0;
  return !over_;
}

/// False if it needs more bytes.
bool conversation::step(std::string& out) {
  switch (state_) {
    case state::line:
      return read_line(out);
    case state::value:
      return read_value(out);
    case state::swallow:
      return swallow();
    default:
      return give_next(out);
  }
}

bool conversation::read_line(std::string& out) {
  const std::size_t end = in_.find('\n', at_ + scanned_);
  if (end == std::string::npos) {
    const std::string_view begin = std::string_view(in_).substr(at_);
    scanned_ = begin.size();
    over_ = begin.size() > (is_get(begin) ? max_get_bytes : max_line_bytes);
    return false;
  }
  std::string_view line = std::string_view(in_).substr(at_, end - at_);
  if (line.ends_with('\r')) line.remove_suffix(1);
  at_ = end + 1;
  scanned_ = 0;
  obey(line, out);
  return true;
}

bool conversation::read_value(std::string& out) {
  const std::string_view there = std::string_view(in_).substr(at_);
  const std::size_t part = std::min<std::size_t>(there.size(), fresh_->value_bytes - filled_);
  std::memcpy(fresh_->value() + filled_, there.data(), part);
  filled_ += static_cast<std::uint32_t>(part);
  at_ += part;
  if (filled_ < fresh_->value_bytes || in_.size() - at_ < 2) return false;
  finish_value(out);
  return true;
}

void conversation::finish_value(std::string& out) {
  state_ = state::line;
  const bool ended = in_.compare(at_, 2, "\r\n") == 0;
  at_ += 2;
  if (!ended) {
    give_fresh();
    return say(out, "CLIENT_ERROR bad data chunk");
  }
  const bool joins = how_ == cache::rule::append || how_ == cache::rule::prepend;
  cache::request asked{.what = joins ? cache::action::join : cache::action::put, .how = how_, .cas = cas_};
  asked.subject = fresh_;
  run(asked);
  give_fresh();
  if (how_ == cache::rule::cas) {
    with_.counts.add(asked.said == cache::answer::done     ? counted::cas_hits
                     : asked.said == cache::answer::exists ? counted::cas_badval
                                                           : counted::cas_misses);
  }
  switch (asked.said) {
    case cache::answer::done:
      return say(out, "STORED");
    case cache::answer::exists:
      return say(out, "EXISTS");
    case cache::answer::not_found:
      return say(out, "NOT_FOUND");
    default:
      return say(out, "NOT_STORED");
  }
}

/// Requires: the line end (2 bytes) follows the value; it is discarded with the value.
void conversation::refuse_value(cache::answer why, std::uint64_t bytes, std::string& out) {
  say(out, why == cache::answer::too_large ? "SERVER_ERROR object too large for cache"
                                           : "SERVER_ERROR out of memory storing object");
  to_swallow_ = bytes + 2;
  state_ = state::swallow;
  if (how_ == cache::rule::set) drop_key();  // the client does not want the old value to stay
}

bool conversation::swallow() {
  const std::uint64_t part = std::min<std::uint64_t>(to_swallow_, in_.size() - at_);
  at_ += part;
  to_swallow_ -= part;
  if (to_swallow_ != 0) return false;
  state_ = state::line;
  return true;
}

bool conversation::give_next(std::string& out) {
  std::string_view rest = std::string_view(asked_keys_).substr(asked_at_);
  const std::string_view word = take_word(rest);
  asked_at_ = asked_keys_.size() - rest.size();
  if (word.empty()) {
    state_ = state::line;
    asked_keys_.clear();
    out.append("END\r\n");
    return true;
  }
  key_ = cache::item_key(word.data(), static_cast<unsigned>(word.size()));
  cache::request asked{.what = cache::action::get};
  run(asked);
  with_.counts.add(counted::cmd_get);
  with_.counts.add(asked.subject != nullptr ? counted::get_hits : counted::get_misses);
  if (asked.subject == nullptr) return true;
  const cache::item& one = *asked.subject;
  out.append("VALUE ").append(word).append(" ").append(std::to_string(one.flags));
  out.append(" ").append(std::to_string(one.value_bytes));
  if (with_cas_) out.append(" ").append(std::to_string(one.cas));
  out.append("\r\n").append(one.value(), one.value_bytes).append("\r\n");
  asked.what = cache::action::release;
  run(asked);
  return true;
}

void conversation::say(std::string& out, std::string_view text) const {
  if (!quiet_) out.append(text).append("\r\n");
}

void conversation::run(cache::request& asked) {
  asked.now = now_;
  asked.key = &key_;
  with_.data.run(key_, asked);
}

void conversation::give_fresh() {
  if (fresh_ == nullptr) return;
  cache::request asked{.what = cache::action::release};
  asked.subject = std::exchange(fresh_, nullptr);
  run(asked);
}

void conversation::drop_key() {
  cache::request asked{.what = cache::action::remove};
  run(asked);
}

/// If the word is not a valid key, appends an error to `out` and returns false.
bool conversation::take_key(std::string_view word, std::string& out) {
  if (word.size() > cache::max_key_bytes) {
    say(out, "CLIENT_ERROR bad command line format");
    return false;
  }
  key_ = cache::item_key(word.data(), static_cast<unsigned>(word.size()));
  return true;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cache_server

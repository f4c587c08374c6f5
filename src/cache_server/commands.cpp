// SPDX-License-Identifier: Apache-2.0
// The commands of memcached's text protocol. Malformed commands get the same answers as from memcached 1.6.18.
#include <limits>

#include "cache_server/conversation.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cache_server {

namespace {

constexpr std::string_view bad_format = "CLIENT_ERROR bad command line format";
constexpr std::string_view version_line = "VERSION " TXSYNC_VERSION " txsync-cache\r\n";

}  // namespace

/// Every command, with the number of words that its line may have (the command itself included).
struct conversation::command {
  std::string_view name;
  unsigned least;
  unsigned most;
  void (*obey)(conversation& in, const words& line, std::string_view text, std::string& out);

  static constexpr unsigned any = std::numeric_limits<unsigned>::max();
  template <cache::rule how>
  static void store(conversation& in, const words& line, std::string_view, std::string& out) {
    in.store(line, out, how);
  }
  template <bool with_cas>
  static void get(conversation& in, const words& line, std::string_view text, std::string& out) {
    in.get(line, text, out, with_cas);
  }
  template <bool up>
  static void count(conversation& in, const words& line, std::string_view, std::string& out) {
    in.count(line, out, up);
  }
  template <auto member>
  static void call(conversation& in, const words& line, std::string_view, std::string& out) {
    (in.*member)(line, out);
  }
  static void version(conversation&, const words&, std::string_view, std::string& out) { out.append(version_line); }
  static void quit(conversation& in, const words&, std::string_view, std::string&) { in.over_ = true; }

  static const command* find(std::string_view name) noexcept;
};

const conversation::command* conversation::command::find(std::string_view name) noexcept {
  static constexpr command table[] = {
      {"get", 2, any, get<false>},
      {"gets", 2, any, get<true>},
      {"set", 5, 6, store<cache::rule::set>},
      {"add", 5, 6, store<cache::rule::add>},
      {"replace", 5, 6, store<cache::rule::replace>},
      {"append", 5, 6, store<cache::rule::append>},
      {"prepend", 5, 6, store<cache::rule::prepend>},
      {"cas", 6, 7, store<cache::rule::cas>},
      {"incr", 3, 4, count<true>},
      {"decr", 3, 4, count<false>},
      {"delete", 2, 4, call<&conversation::remove>},
      {"touch", 3, 4, call<&conversation::touch>},
      {"flush_all", 1, 3, call<&conversation::flush_all>},
      {"verbosity", 2, 3, call<&conversation::verbosity>},
      {"stats", 1, any, call<&conversation::tell_statistics>},
      {"version", 1, any, version},
      {"quit", 1, any, quit},
  };
  for (const command& one : table) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

void conversation::obey(std::string_view text, std::string& out) {
  const words line(text);
  quiet_ = false;
  const command* const known = line.count() != 0 ? command::find(line[0]) : nullptr;
  if (known == nullptr || line.count() < known->least || line.count() > known->most) return say(out, "ERROR");
  known->obey(*this, line, text, out);
}

void conversation::get(const words& line, std::string_view text, std::string& out, bool with_cas) {
  // Checks all keys before the first is answered, because an answer that has begun cannot be taken back.
  std::string_view keys = text.substr(0, text.find('\0'));
  take_word(keys);
  for (std::string_view rest = keys, word = take_word(rest); !word.empty(); word = take_word(rest)) {
    if (word.size() > cache::max_key_bytes) return say(out, bad_format);
  }
  static_cast<void>(line);
  with_cas_ = with_cas;
  asked_keys_.assign(keys);
  asked_at_ = 0;
  state_ = state::get;
}

void conversation::store(const words& line, std::string& out, cache::rule how) {
  quiet_ = line.noreply();
  if (!take_key(line[1], out)) return;
  std::uint64_t flags = 0;
  std::int64_t seconds = 0;
  std::int64_t bytes = 0;
  cas_ = 0;
  if (!number_of(line[2], flags) || !seconds_of(line[3], seconds) || !seconds_of(line[4], bytes) || bytes < 0 ||
      bytes > std::numeric_limits<std::int32_t>::max() - 2 || (how == cache::rule::cas && !number_of(line[5], cas_))) {
    return say(out, bad_format);
  }
  with_.counts.add(counted::cmd_set);
  how_ = how;
  cache::request asked{.what = cache::action::take,
                       .expires = with_.clock.second_of(seconds),
                       .flags = static_cast<std::uint32_t>(flags),
                       .value_bytes = static_cast<std::uint32_t>(bytes)};
  run(asked);
  if (asked.subject == nullptr) return refuse_value(asked.said, static_cast<std::uint64_t>(bytes), out);
  fresh_ = asked.subject;
  filled_ = 0;
  state_ = state::value;
}

void conversation::count(const words& line, std::string& out, bool up) {
  quiet_ = line.noreply();
  if (!take_key(line[1], out)) return;
  cache::request asked{.what = cache::action::count, .up = up};
  if (!number_of(line[2], asked.delta)) return say(out, "CLIENT_ERROR invalid numeric delta argument");
  run(asked);
  const bool there = asked.said != cache::answer::not_found;
  with_.counts.add(up ? (there ? counted::incr_hits : counted::incr_misses)
                      : (there ? counted::decr_hits : counted::decr_misses));
  switch (asked.said) {
    case cache::answer::done:
      return say(out, std::to_string(asked.number));
    case cache::answer::not_found:
      return say(out, "NOT_FOUND");
    case cache::answer::not_a_number:
      return say(out, "CLIENT_ERROR cannot increment or decrement non-numeric value");
    default:
      return say(out, "SERVER_ERROR out of memory");
  }
}

void conversation::remove(const words& line, std::string& out) {
  quiet_ = line.noreply();
  // Older memcached versions took a delay here. A delay of 0 is still accepted.
  const bool zero = line.count() > 2 && line[2] == "0";
  if ((line.count() == 3 && !zero && !quiet_) || (line.count() == 4 && !(zero && quiet_))) {
    return say(out, "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]");
  }
  if (!take_key(line[1], out)) return;
  cache::request asked{.what = cache::action::remove};
  run(asked);
  const bool there = asked.said == cache::answer::done;
  with_.counts.add(there ? counted::delete_hits : counted::delete_misses);
  say(out, there ? "DELETED" : "NOT_FOUND");
}

void conversation::touch(const words& line, std::string& out) {
  quiet_ = line.noreply();
  if (!take_key(line[1], out)) return;
  std::int64_t seconds = 0;
  if (!seconds_of(line[2], seconds)) return say(out, "CLIENT_ERROR invalid exptime argument");
  cache::request asked{.what = cache::action::touch, .expires = with_.clock.second_of(seconds)};
  run(asked);
  const bool there = asked.said == cache::answer::done;
  with_.counts.add(counted::cmd_touch);
  with_.counts.add(there ? counted::touch_hits : counted::touch_misses);
  say(out, there ? "TOUCHED" : "NOT_FOUND");
}

void conversation::flush_all(const words& line, std::string& out) {
  quiet_ = line.noreply();
  std::int64_t seconds = 0;
  const bool when = line.count() == (quiet_ ? 3U : 2U) || (line.count() == 3 && !quiet_);
  if (when && !seconds_of(line[1], seconds)) return say(out, "CLIENT_ERROR invalid exptime argument");
  with_.counts.add(counted::cmd_flush);
  cache::request asked{.what = cache::action::flush, .now = now_, .expires = with_.clock.second_of(seconds)};
  with_.data.flush(asked);
  say(out, "OK");
}

void conversation::verbosity(const words& line, std::string& out) {
  quiet_ = line.noreply();
  std::uint64_t level = 0;  // parsed and ignored: the server writes no log
  const bool good = (quiet_ && line.count() == 2) || number_of(line[1], level);
  say(out, good ? "OK" : bad_format);
}

void conversation::tell_statistics(const words& line, std::string& out) {
  if (line.count() == 1) {
    out.append(with_.statistics(with_.server, with_.data)).append("END\r\n");
  } else if (line[1] == "reset") {
    with_.reset_statistics(with_.server);
    say(out, "RESET");
  } else {
    say(out, "ERROR");
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cache_server

// SPDX-License-Identifier: Apache-2.0
// memcached's text protocol with one client, without its socket. Bytes arrive in pieces of any size; answers go out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cache_server/command_line.hpp"
#include "cache_server/counters.hpp"
#include "cache_server/session.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cache_server {

/// Seconds as memcached counts them. The server starts at second 2, so that no time is 0.
class second_clock {
 public:
  second_clock() noexcept;
  std::uint32_t now() const noexcept;
  /// The second that a client means with an expiry time. 0 means never, up to 30 days count from now, more is Unix
  /// time. A negative time has long passed.
  std::uint32_t second_of(std::int64_t seconds) const noexcept;
  std::int64_t world_time() const noexcept;

 private:
  std::uint64_t started_ns_;
  std::int64_t started_;  ///< Unix time of this clock's second 0
};

/// What the conversations of one worker share. Only that worker uses it, except where a member says otherwise.
struct conversation_with {
  session& data;
  counters& counts;
  const second_clock& clock;
  /// Lines "STAT name value" of the whole server, each with its line end.
  std::string (*statistics)(void* server, session& data);
  void (*reset_statistics)(void* server);
  void* server;
};

class conversation {
 public:
  explicit conversation(const conversation_with& with) noexcept : with_(with) {}
  conversation(const conversation&) = delete;
  conversation& operator=(const conversation&) = delete;
  ~conversation() { give_fresh(); }

  void receive(std::string_view bytes) { in_.append(bytes); }
  /// Answers what has been received, until it needs more bytes or `out` has `most` bytes. The last value may exceed
  /// `most`. False if the conversation is over.
  bool answer(std::string& out, std::size_t most);

 private:
  enum class state : std::uint8_t { line, value, swallow, get };
  struct command;

  bool step(std::string& out);
  bool read_line(std::string& out);
  bool read_value(std::string& out);
  bool swallow();
  bool give_next(std::string& out);
  void obey(std::string_view line, std::string& out);
  void say(std::string& out, std::string_view text) const;

  void get(const words& line, std::string_view rest, std::string& out, bool with_cas);
  void store(const words& line, std::string& out, cache::rule how);
  void count(const words& line, std::string& out, bool up);
  void remove(const words& line, std::string& out);
  void touch(const words& line, std::string& out);
  void flush_all(const words& line, std::string& out);
  void verbosity(const words& line, std::string& out);
  void tell_statistics(const words& line, std::string& out);

  void finish_value(std::string& out);
  void refuse_value(cache::answer why, std::uint64_t bytes, std::string& out);
  void drop_key();
  void give_fresh();
  bool take_key(std::string_view word, std::string& out);
  void run(cache::request& asked);

  const conversation_with& with_;
  state state_ = state::line;
  bool over_ = false;
  bool quiet_ = false;  ///< the command asked for no answer
  bool with_cas_ = false;
  std::uint32_t now_ = 0;

  std::string in_;
  std::size_t at_ = 0;       ///< how many bytes of in_ are consumed
  std::size_t scanned_ = 0;  ///< how many bytes of in_ from at_ on contain no line end
  std::string asked_keys_;   ///< the keys of a get
  std::size_t asked_at_ = 0;

  cache::item_key key_;
  cache::rule how_ = cache::rule::set;
  std::uint64_t cas_ = 0;
  cache::item* fresh_ = nullptr;  ///< an item whose value is being received
  std::uint32_t filled_ = 0;
  std::uint64_t to_swallow_ = 0;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cache_server

// SPDX-License-Identifier: Apache-2.0
// memcached's text protocol with one client, without its socket: bytes come in as they please, answers go out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cache_server/command_line.hpp"
#include "cache_server/counters.hpp"
#include "cache_server/session.hpp"

namespace txsync::inline TXSYNC_BACKEND::cache_server {

/// Seconds as memcached has them: from 2 at the start of the server, so that none is 0.
class second_clock {
 public:
  second_clock() noexcept;
  std::uint32_t now() const noexcept;
  /// The second that a client means: 0 never; up to 30 days from now; more is the world's time; below 0 is long past.
  std::uint32_t second_of(std::int64_t seconds) const noexcept;
  std::int64_t world_time() const noexcept;

 private:
  std::uint64_t started_ns_;
  std::int64_t started_;  ///< second of the world that is 0 here
};

/// What a worker's conversations share. Used by that worker alone, but for what its members say.
struct conversation_with {
  session& data;
  counters& counts;
  const second_clock& clock;
  /// Lines "STAT name value" of all the server, each with its end.
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
  /// Answers what has been received until more is needed, or until there are `most` bytes of answers; a value more may
  /// be added to them. False when the conversation is over.
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
  std::size_t at_ = 0;       ///< of in_, what has been used up
  std::size_t scanned_ = 0;  ///< of in_ from at_, where there is no end of a line
  std::string asked_keys_;   ///< of a get
  std::size_t asked_at_ = 0;

  cache::item_key key_;
  cache::rule how_ = cache::rule::set;
  std::uint64_t cas_ = 0;
  cache::item* fresh_ = nullptr;  ///< a value on its way
  std::uint32_t filled_ = 0;
  std::uint64_t to_swallow_ = 0;
};

}  // namespace txsync::inline TXSYNC_BACKEND::cache_server

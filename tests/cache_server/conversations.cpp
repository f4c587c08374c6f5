// SPDX-License-Identifier: Apache-2.0
// The protocol without a socket. What arrives in pieces, wherever it is cut, is answered like what arrives at once.
// Answers that nobody takes hold up the next answers.
#include "cache_server/conversation.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "cache_server/session.hpp"

namespace {

namespace s = txsync::cache_server;

/// A server with one client.
class one_client {
 public:
  explicit one_client(std::size_t bytes = 4 << 20)
      : data_(s::make_cache("tatas", {.bytes = bytes})),
        session_(data_->open()),
        with_{.data = *session_,
              .counts = counts_,
              .clock = clock_,
              .statistics = [](void*, s::session&) { return std::string("STAT all well\r\n"); },
              .reset_statistics = [](void*) {},
              .server = nullptr},
        talk_(std::make_unique<s::conversation>(with_)) {}

  std::string hear(std::string_view bytes) {
    std::string out;
    talk_->receive(bytes);
    goes_on = talk_->answer(out, std::size_t{1} << 30);
    return out;
  }
  s::conversation& talk() { return *talk_; }
  void leave() { talk_.reset(); }
  std::string complaint() const {
    const char* const said = data_->complaint();
    return said != nullptr ? said : "";
  }

  bool goes_on = true;

 private:
  std::unique_ptr<s::served_cache> data_;
  std::unique_ptr<s::session> session_;
  s::counters counts_;
  s::second_clock clock_;
  s::conversation_with with_;
  std::unique_ptr<s::conversation> talk_;
};

constexpr std::string_view script =
    "set a 5 0 3\r\nabc\r\nappend a 0 0 2\r\nde\r\nget a b\r\ngets a\r\nset b 0 0 3 noreply\r\n1\r\n\r\nset b 0 0 "
    "1\r\n7\r\n"
    "incr b 5\r\nset c 0 0 2\r\ntoo long\r\nget c\r\nbogus\r\n\r\nset d 0 0 2000000\r\nset e 0 0 x\r\ndelete b 0\r\n"
    "touch a 10\r\nadd a 0 0 1\r\nx\r\nstats\r\nverbosity 1\r\nget a b\r\n";

/// The script with the value that is too large.
std::string whole_script() {
  std::string all(script);
  const std::string_view large = "set d 0 0 2000000\r\n";
  all.insert(all.find(large) + large.size(), std::string(2'000'000, 'v') + "\r\n");
  return all;
}

TEST(Conversation, IsTheSameWhereverItIsCut) {
  const std::string all = whole_script();
  const std::size_t behind_large = all.find("set e 0 0");
  one_client at_once;
  const std::string expected = at_once.hear(all);
  EXPECT_TRUE(expected.starts_with("STORED\r\nSTORED\r\nVALUE a 5 5\r\nabcde\r\nEND\r\nVALUE a 5 5 2\r\n")) << expected;
  EXPECT_TRUE(expected.ends_with("END\r\nOK\r\nVALUE a 5 5\r\nabcde\r\nEND\r\n")) << expected;
  EXPECT_NE(expected.find("SERVER_ERROR object too large for cache\r\nCLIENT_ERROR bad command"), std::string::npos);

  for (std::size_t cut = 0; cut < all.size(); ++cut) {
    if (cut == script.find("set d") + 25) cut = behind_large - 5;  // not at each byte of what is swallowed
    one_client in_two;
    std::string seen = in_two.hear(std::string_view(all).substr(0, cut));
    seen += in_two.hear(std::string_view(all).substr(cut));
    ASSERT_EQ(seen, expected) << "cut at " << cut;
  }
  one_client in_bytes;
  std::string seen;
  for (const char& letter : all) seen += in_bytes.hear({&letter, 1});
  EXPECT_EQ(seen, expected);
  in_bytes.leave();
  EXPECT_EQ(in_bytes.complaint(), "");
}

TEST(Conversation, StopsWhereTooMuchIsUnread) {
  one_client all;
  all.hear("set a 0 0 1000\r\n" + std::string(1000, 'x') + "\r\n");
  std::string keys = "get";
  for (int i = 0; i < 100; ++i) keys += " a";
  std::string out;
  all.talk().receive(keys + "\r\nversion\r\n");
  EXPECT_TRUE(all.talk().answer(out, 5'000));
  EXPECT_GE(out.size(), 5'000U);
  EXPECT_LT(out.size(), 7'000U);
  std::string rest;
  while (!out.empty()) {
    rest += out;
    out.clear();
    all.talk().answer(out, 5'000);
  }
  EXPECT_GT(rest.size(), 100'000U);
  EXPECT_NE(rest.find("END\r\nVERSION "), std::string::npos);
}

TEST(Conversation, GivesBackAValueThatNeverEnds) {
  one_client all;
  EXPECT_EQ(all.hear("set a 0 0 100\r\nhalf"), "");
  EXPECT_EQ(all.complaint(), "an item of the cache is neither in the table nor free, or both");
  all.leave();
  EXPECT_EQ(all.complaint(), "");
}

TEST(Conversation, EndsWhereALineHasNoEnd) {
  one_client all;
  all.hear(std::string(2048, 'x'));
  EXPECT_TRUE(all.goes_on);
  all.hear("x");
  EXPECT_FALSE(all.goes_on);
  one_client asking;
  asking.hear("   get " + std::string(100'000, 'x'));
  EXPECT_TRUE(asking.goes_on);
  asking.hear(std::string(1 << 20, 'x'));
  EXPECT_FALSE(asking.goes_on);
  one_client leaving;
  EXPECT_EQ(leaving.hear("quit\r\nversion\r\n"), "");
  EXPECT_FALSE(leaving.goes_on);
}

TEST(Conversation, SaysThatThereIsNoMemory) {
  one_client all(1 << 16);
  EXPECT_EQ(all.hear("set a 0 0 900000\r\n"), "") << "the first of its size has room";
  all.hear(std::string(900'000, 'x') + "\r\n");
  EXPECT_EQ(all.hear("get a\r\n").size(), 900'000 + std::string("VALUE a 0 900000\r\n\r\nEND\r\n").size());
  EXPECT_EQ(all.hear("set b 0 0 900000\r\n" + std::string(900'000, 'y') + "\r\n"), "STORED\r\n") << "a is evicted";
  EXPECT_EQ(all.hear("get a\r\n"), "END\r\n");
}

TEST(CommandLine, IsTakenApartAtBlanks) {
  const s::words line(std::string_view("  set  a b\tc noreply\0 more", 24));
  EXPECT_EQ(line.count(), 4U);
  EXPECT_EQ(line[0], "set");
  EXPECT_EQ(line[2], "b\tc");
  EXPECT_TRUE(line.noreply());
  EXPECT_EQ(s::words("").count(), 0U);
  EXPECT_EQ(s::words("a b c d e f g h i j noreply").count(), 11U);
  EXPECT_TRUE(s::words("a b c d e f g h i j noreply").noreply());
  EXPECT_FALSE(s::words("noreply").noreply());
}

TEST(Clock, KnowsWhatClientsMean) {
  const s::second_clock clock;
  EXPECT_EQ(clock.second_of(0), 0U) << "never";
  EXPECT_GE(clock.now(), 2U);
  EXPECT_EQ(clock.second_of(-1), 1U) << "long past";
  const std::uint32_t soon = clock.second_of(100);
  EXPECT_TRUE(soon == clock.now() + 100 || soon + 1 == clock.now() + 100);
  EXPECT_EQ(clock.second_of(60 * 60 * 24 * 30 + 1), 1U) << "a second of 1970";
  const std::uint32_t then = clock.second_of(clock.world_time() + 500);
  EXPECT_LE(then - clock.now(), 500U);
  EXPECT_GE(then - clock.now(), 498U);
}

}  // namespace

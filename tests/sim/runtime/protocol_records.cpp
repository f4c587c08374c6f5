// SPDX-License-Identifier: Apache-2.0
// The records between a simulated program and its host: what is written is read, and nothing else.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "sim/protocol.hpp"
#include "sim/runtime/line_text.hpp"

namespace txsync::sim {
namespace {

template <class Record>
std::string written(const Record& record) {
  line_text line;
  put_record(line, record);
  return line.text();
}

/// The words of a record, without its name and the line feed. Empty, with a failure, if it is another record.
std::string words_of(const std::string& line, const std::string& name) {
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const std::string whole = line.substr(0, line.size() - 1);
  const record_line split = split_record(whole);
  EXPECT_EQ(split.name, name);
  return std::string(split.words);
}

/// What a record is after it was written, read and written again has to be the same.
template <class Record>
Record after_the_wire(const Record& record, const std::string& expected) {
  const std::string line = written(record);
  EXPECT_EQ(line, expected + "\n");
  const std::string words = words_of(line, Record::record_name);
  Record back;
  EXPECT_TRUE(get_record(words, back)) << line;
  EXPECT_EQ(written(back), line);
  return back;
}

/// Each beginning of a record that ends after a word, and the record with one word more, is refused.
template <class Record>
void expect_whole_records_only(const Record& record) {
  const std::string words = words_of(written(record), Record::record_name);
  Record back;
  for (std::size_t end = words.find(' '); end != std::string::npos; end = words.find(' ', end + 1)) {
    EXPECT_FALSE(get_record(std::string_view(words).substr(0, end), back)) << words.substr(0, end);
  }
  EXPECT_FALSE(get_record("", back));
  EXPECT_FALSE(get_record(words + " 1", back));
}

constexpr std::uint64_t all_bits = ~std::uint64_t{0};

const abort_record conflict = {
    .why = cause::conflict,
    .count = 12,
    .own_code = 0x401234,
    .other_code = 0x4012ff,
    .address = 0x100100080,
    .false_sharing_hits = 11,
    .own = {.kind = data_kind::heap, .whose = 0x405678, .start = 4295819264, .bytes = 128, .offset = 8},
    .conflicting = {.kind = data_kind::stack, .whose = 3},
    .occupancy = {.of = overflow_kind::l1_set_of_reads, .set = 12, .own = 9, .siblings = 1, .room = 8}};

TEST(ProtocolRecords, Abort) {
  const abort_record back =
      after_the_wire(conflict,
                     "abort conflict 12 0x401234 0x4012ff 0x100100080 11 2 0x405678 4295819264 128 8 "
                     "4 0x3 0 0 0 4 12 9 1 8");
  EXPECT_EQ(back.why, cause::conflict);
  EXPECT_EQ(back.count, 12u);
  EXPECT_EQ(back.own_code, 0x401234u);
  EXPECT_EQ(back.other_code, 0x4012ffu);
  EXPECT_EQ(back.address, 0x100100080u);
  EXPECT_EQ(back.false_sharing_hits, 11u);
  EXPECT_EQ(back.own.kind, data_kind::heap);
  EXPECT_EQ(back.own.whose, 0x405678u);
  EXPECT_EQ(back.own.start, 4295819264u);
  EXPECT_EQ(back.own.bytes, 128u);
  EXPECT_EQ(back.own.offset, 8u);
  EXPECT_EQ(back.conflicting.kind, data_kind::stack);
  EXPECT_EQ(back.conflicting.whose, 3u);
  EXPECT_EQ(back.occupancy.of, overflow_kind::l1_set_of_reads);
  EXPECT_EQ(back.occupancy.set, 12u);
  EXPECT_EQ(back.occupancy.own, 9u);
  EXPECT_EQ(back.occupancy.siblings, 1u);
  EXPECT_EQ(back.occupancy.room, 8u);
  expect_whole_records_only(conflict);
}

TEST(ProtocolRecords, EveryValueOfEveryEnumeration) {
  for (unsigned i = 0; i < causes; ++i) {
    abort_record record = conflict;
    record.why = static_cast<cause>(i);
    record.own.kind = static_cast<data_kind>(i % data_kinds);
    record.occupancy.of = static_cast<overflow_kind>(i % overflow_kinds);
    abort_record back;
    ASSERT_TRUE(get_record(words_of(written(record), "abort"), back));
    EXPECT_EQ(back.why, record.why);
    EXPECT_EQ(back.own.kind, record.own.kind);
    EXPECT_EQ(back.occupancy.of, record.occupancy.of);
  }
  std::map<std::string, step_kind> names;
  for (unsigned i = 0; i < step_kinds; ++i) {
    const auto what = static_cast<step_kind>(i);
    trace_step back;
    ASSERT_TRUE(get_record(words_of(written(trace_step{1, 2, what, 3}), "step"), back));
    EXPECT_EQ(back.what, what);
    EXPECT_TRUE(names.emplace(name_of(what), what).second) << name_of(what);
  }
  EXPECT_EQ(names.at("lock-busy"), aborts_for(cause::lock_busy));
}

TEST(ProtocolRecords, ExtremeNumbers) {
  abort_record record;
  record.count = record.own_code = record.address = record.conflicting.offset = all_bits;
  record.occupancy.room = record.own.whose = ~std::uint32_t{0};
  abort_record back;
  ASSERT_TRUE(get_record(words_of(written(record), "abort"), back));
  EXPECT_EQ(back.count, all_bits);
  EXPECT_EQ(back.address, all_bits);
  EXPECT_EQ(back.conflicting.offset, all_bits);
  EXPECT_EQ(back.occupancy.room, ~std::uint32_t{0});
  EXPECT_EQ(back.own.whose, ~std::uint32_t{0});
}

TEST(ProtocolRecords, Calls) {
  calls_record record{.own_code = 0x401234, .other_code = 0, .own = {}, .other = {}};
  record.own.codes[0] = 0x401240;
  record.own.codes[1] = 0x402000;
  record.own.count = 2;
  const calls_record back = after_the_wire(record, "calls 0x401234 0x0 2 0x401240 0x402000 0");
  EXPECT_EQ(back.own.count, 2u);
  EXPECT_EQ(back.own.codes[1], 0x402000u);
  EXPECT_EQ(back.other.count, 0u);
  expect_whole_records_only(record);
}

TEST(ProtocolRecords, TheLongestCallChainsFit) {
  calls_record record{.own_code = ~std::uint32_t{0}, .other_code = 1, .own = {}, .other = {}};
  for (call_chain* chain : {&record.own, &record.other}) {
    for (std::uint64_t& code : chain->codes) code = all_bits;
    chain->count = call_chain::max_calls;
  }
  calls_record back;
  ASSERT_TRUE(get_record(words_of(written(record), "calls"), back));
  EXPECT_EQ(back.other.count, call_chain::max_calls);
  EXPECT_EQ(back.other.codes[call_chain::max_calls - 1], all_bits);
  EXPECT_FALSE(get_record("0x1 0x2 17 0", back)) << "more calls than a chain has";
}

TEST(ProtocolRecords, EndOfAnAttempt) {
  const abort_end record{.code = 0x401234, .caller = 0x402000, .count = 64};
  const abort_end back = after_the_wire(record, "ended 0x401234 0x402000 64");
  EXPECT_EQ(back.caller, 0x402000u);
  EXPECT_EQ(back.count, 64u);
  expect_whole_records_only(record);
}

TEST(ProtocolRecords, Step) {
  const trace_step record{.thread = 3, .code = 0x401234, .what = step_kind::drains, .address = 0x100100080};
  const trace_step back = after_the_wire(record, "step 3 0x401234 drains 0x100100080");
  EXPECT_EQ(back.thread, 3u);
  EXPECT_EQ(back.code, 0x401234u);
  EXPECT_EQ(back.address, 0x100100080u);
  expect_whole_records_only(record);
}

TEST(ProtocolRecords, Test) {
  const test_record record{
      .test = "tatas", .expected = "broken-with-store-buffers", .summary = "two threads, one lock"};
  const std::string line = written(record);
  EXPECT_EQ(line, "test tatas broken-with-store-buffers two threads, one lock\n");
  const std::string words = words_of(line, "test");
  test_record back;
  ASSERT_TRUE(get_record(words, back));
  EXPECT_EQ(back.test, record.test);
  EXPECT_EQ(back.expected, record.expected);
  EXPECT_EQ(back.summary, record.summary);
  EXPECT_FALSE(get_record("tatas", back));
}

TEST(ProtocolRecords, Number) {
  line_text line;
  put_number(line, number_record::aborts, name_of(cause::lock_busy), all_bits);
  const std::string words = words_of(line.text(), "aborts.lock-busy");
  std::uint64_t number = 0;
  ASSERT_TRUE(get_number(words, number));
  EXPECT_EQ(number, all_bits);
  for (const char* wrong : {"", " ", "x", "0x10", "-1", "1 2", "18446744073709551616", "99999999999999999999999"}) {
    EXPECT_FALSE(get_number(wrong, number)) << wrong;
  }
}

TEST(ProtocolRecords, WhatIsNoSuchWord) {
  trace_step step;
  EXPECT_FALSE(get_record("3 401234 drains 0x1", step)) << "an address without 0x";
  EXPECT_FALSE(get_record("3 0x drains 0x1", step)) << "no digits";
  EXPECT_FALSE(get_record("3 0x1 drained 0x1", step)) << "an unknown name";
  EXPECT_FALSE(get_record("4294967296 0x1 drains 0x1", step)) << "more than the member holds";
  EXPECT_FALSE(get_record("3 0x1 drains 0x10000000000000000", step)) << "more than 64 bits";
  abort_record record;
  std::string words = words_of(written(conflict), "abort");
  words.replace(words.find(" 4 12 9"), 2, " 6");
  EXPECT_FALSE(get_record(words, record)) << "an overflow kind that there is not";
}

TEST(ProtocolOptions, NamesHaveThePrefixAndDiffer) {
  number_options options;
  std::map<std::string, std::uint64_t> numbers;
  number_options::each_option(options, [&](const char* name, std::uint64_t& number) {
    EXPECT_EQ(std::string(name).find(option::prefix), 0u) << name;
    EXPECT_TRUE(numbers.emplace(name, number).second) << name;
    number = numbers.size();
  });
  for (const char* name : {option::model, option::records, option::elide, option::locks, option::sites, option::variant,
                           option::patience}) {
    EXPECT_EQ(std::string(name).find(option::prefix), 0u) << name;
    EXPECT_TRUE(numbers.emplace(name, 0).second) << name;
  }
  EXPECT_EQ(options.seed, 1u);
  EXPECT_EQ(options.trace * sizeof(std::uint64_t), sizeof options) << "each member is an option";
}

}  // namespace
}  // namespace txsync::sim

// SPDX-License-Identifier: Apache-2.0
// The cache without a server: what it answers, what it evicts, and that its check finds what a broken lock would leave.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <txsync/locks/tatas.hpp>

#include "workloads/cache/cache_workload.hpp"
#include "workloads/cache/numbers.hpp"

namespace {

namespace w = txsync::workloads;
namespace c = txsync::workloads::cache;

/// A cache with one user.
class one_cache {
 public:
  explicit one_cache(std::size_t bytes = 1 << 20, std::uint64_t buckets = 16, bool first_runs = true)
      : data_(c::store_shape{.bytes = bytes, .buckets = buckets, .first_runs = first_runs}) {}

  c::answer run(c::request& asked, const c::item_key& key) {
    asked.now = now;
    asked.key = &key;
    data_.apply(memory_, asked);
    said_.add(data_.take_news());
    return asked.said;
  }

  c::answer put(std::string_view key, std::string_view value, c::rule how = c::rule::set, std::uint64_t cas = 0,
                std::uint32_t expires = 0) {
    const c::item_key at(key.data(), static_cast<unsigned>(key.size()));
    c::request asked{
        .what = c::action::take, .expires = expires, .value_bytes = static_cast<std::uint32_t>(value.size())};
    if (run(asked, at) != c::answer::done) return asked.said;
    std::memcpy(asked.subject->value(), value.data(), value.size());
    const bool joins = how == c::rule::append || how == c::rule::prepend;
    asked.what = joins ? c::action::join : c::action::put;
    asked.how = how;
    asked.cas = cas;
    const c::answer said = run(asked, at);
    asked.what = c::action::release;
    run(asked, at);
    return said;
  }

  /// The value, or "-" where there is none.
  std::string get(std::string_view key, std::uint64_t* cas = nullptr) {
    const c::item_key at(key.data(), static_cast<unsigned>(key.size()));
    c::request asked{.what = c::action::get};
    if (run(asked, at) != c::answer::done) return "-";
    std::string value(asked.subject->value(), asked.subject->value_bytes);
    if (cas != nullptr) *cas = asked.subject->cas;
    asked.what = c::action::release;
    run(asked, at);
    return value;
  }

  c::answer ask(c::action what, std::string_view key, std::uint32_t expires = 0) {
    c::request asked{.what = what, .expires = expires};
    // Not every action has a key: c::action::flush, for one.
    return run(asked, key.empty() ? c::item_key() : c::item_key(key.data(), static_cast<unsigned>(key.size())));
  }

  /// What incr says, or -1, -2... for the answers that are none.
  long long count(std::string_view key, std::uint64_t delta, bool up = true) {
    c::request asked{.what = c::action::count, .up = up, .delta = delta};
    const c::answer said = run(asked, c::item_key(key.data(), static_cast<unsigned>(key.size())));
    return said == c::answer::done ? static_cast<long long>(asked.number) : -static_cast<long long>(said);
  }

  std::string complaint() const {
    const char* const said = data_.complaint(said_);
    return said != nullptr ? said : "";
  }
  c::store& data() { return data_; }
  c::statistics& said() { return said_; }

  std::uint32_t now = 2;

 private:
  c::store data_;
  txsync::section_memory memory_;
  c::statistics said_;
};

TEST(CacheStore, FollowsTheRuleOfEachPut) {
  one_cache all;
  EXPECT_EQ(all.get("a"), "-");
  EXPECT_EQ(all.put("a", "1", c::rule::replace), c::answer::not_stored);
  EXPECT_EQ(all.put("a", "1", c::rule::append), c::answer::not_stored);
  EXPECT_EQ(all.put("a", "1", c::rule::cas, 1), c::answer::not_found);
  EXPECT_EQ(all.put("a", "1", c::rule::add), c::answer::done);
  EXPECT_EQ(all.put("a", "2", c::rule::add), c::answer::not_stored);
  std::uint64_t cas = 0;
  EXPECT_EQ(all.get("a", &cas), "1");
  EXPECT_EQ(all.put("a", "3", c::rule::cas, cas + 1), c::answer::exists);
  EXPECT_EQ(all.put("a", "4", c::rule::cas, cas), c::answer::done);
  EXPECT_EQ(all.put("a", "5", c::rule::cas, cas), c::answer::exists) << "it has another one now";
  EXPECT_EQ(all.put("a", "<", c::rule::prepend), c::answer::done);
  EXPECT_EQ(all.put("a", ">", c::rule::append), c::answer::done);
  EXPECT_EQ(all.get("a"), "<4>");
  EXPECT_EQ(all.ask(c::action::remove, "a"), c::answer::done);
  EXPECT_EQ(all.ask(c::action::remove, "a"), c::answer::not_found);
  EXPECT_EQ(all.complaint(), "");
  EXPECT_EQ(all.said().items, 0U);
  EXPECT_EQ(all.said().stored, 4U);
}

TEST(CacheStore, TellsKeysOfOneBucketApart) {
  one_cache all(1 << 20, 1);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(all.put("key" + std::to_string(i), std::to_string(i)), c::answer::done);
  for (int i = 0; i < 200; i += 2) EXPECT_EQ(all.ask(c::action::remove, "key" + std::to_string(i)), c::answer::done);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(all.get("key" + std::to_string(i)), i % 2 == 0 ? "-" : std::to_string(i));
  EXPECT_EQ(all.get("key"), "-");
  EXPECT_EQ(all.get(std::string("key1\0", 5)), "-") << "a longer key with the same words";
  EXPECT_EQ(all.complaint(), "");
}

TEST(CacheStore, ForgetsWhatExpiresAndWhatIsFlushed) {
  one_cache all;
  all.put("soon", "1", c::rule::set, 0, 5);
  all.put("late", "2", c::rule::set, 0, 50);
  all.put("never", "3");
  all.now = 4;
  EXPECT_EQ(all.get("soon"), "1");
  all.now = 5;
  EXPECT_EQ(all.get("soon"), "-");
  EXPECT_EQ(all.ask(c::action::touch, "late", 7), c::answer::done);
  all.now = 7;
  EXPECT_EQ(all.ask(c::action::touch, "late", 100), c::answer::not_found);
  EXPECT_EQ(all.ask(c::action::flush, "", 20), c::answer::done);
  EXPECT_EQ(all.get("never"), "3");
  all.now = 20;
  EXPECT_EQ(all.get("never"), "-");
  EXPECT_EQ(all.put("never", "4"), c::answer::done);
  EXPECT_EQ(all.get("never"), "4") << "stored after the second in which all was flushed";
  all.ask(c::action::flush, "");
  EXPECT_EQ(all.get("never"), "-");
  EXPECT_EQ(all.complaint(), "");
}

TEST(CacheStore, CountsAsMemcachedDoes) {
  one_cache all;
  EXPECT_EQ(all.count("n", 1), -static_cast<long long>(c::answer::not_found));
  all.put("n", "99");
  EXPECT_EQ(all.count("n", 1), 100);
  EXPECT_EQ(all.get("n"), "100");
  EXPECT_EQ(all.count("n", 1, false), 99);
  EXPECT_EQ(all.get("n"), "99 ") << "its length stays";
  EXPECT_EQ(all.count("n", 1000, false), 0) << "not below 0";
  all.put("n", "18446744073709551615");
  EXPECT_EQ(all.count("n", 2), 1) << "around at 2^64";
  all.put("n", "18446744073709551616");
  EXPECT_EQ(all.count("n", 2), -static_cast<long long>(c::answer::not_a_number));
  EXPECT_EQ(all.complaint(), "");
}

TEST(CacheStore, AValueThatSomebodyReadsIsNotCountedInPlace) {
  one_cache all;
  all.put("n", "10");
  const c::item_key key("n", 1);
  c::request reading{.what = c::action::get};
  ASSERT_EQ(all.run(reading, key), c::answer::done);
  EXPECT_EQ(all.count("n", 5), 15);
  EXPECT_EQ(std::string_view(reading.subject->value(), 2), "10");
  EXPECT_EQ(all.get("n"), "15");
  EXPECT_NE(all.complaint(), "") << "an item has a user";
  reading.what = c::action::release;
  all.run(reading, key);
  EXPECT_EQ(all.complaint(), "");
}

TEST(CacheStore, EvictsWhatWasNotUsedForTheLongestTime) {
  const std::size_t size = c::slabs::size_of(c::slabs::class_of(c::item::bytes_of(8, 128)));
  one_cache all(10 * size, 16, false);
  const std::string value(128, 'v');
  const auto key = [](int i) { return "key-" + std::to_string(1000 + i); };
  for (int i = 0; i < 10; ++i) EXPECT_EQ(all.put(key(i), value), c::answer::done);
  EXPECT_EQ(all.said().evicted, 0U);
  all.now = 100;
  EXPECT_EQ(all.get(key(0)), value);  // comes to the front: it was not there for a minute
  EXPECT_EQ(all.put(key(10), value), c::answer::done);
  EXPECT_EQ(all.get(key(0)), value);
  EXPECT_EQ(all.get(key(1)), "-");
  EXPECT_EQ(all.said().evicted, 1U);
  EXPECT_EQ(all.said().items, 10U);
  EXPECT_EQ(all.complaint(), "");
}

TEST(CacheStore, HasNoMemoryWhereAllItemsHaveUsers) {
  const std::size_t size = c::slabs::size_of(c::slabs::class_of(c::item::bytes_of(8, 128)));
  one_cache all(2 * size, 16, false);
  const c::item_key key(7);
  c::request first{.what = c::action::take, .value_bytes = 128};
  c::request second = first;
  c::request third = first;
  ASSERT_EQ(all.run(first, key), c::answer::done);
  ASSERT_EQ(all.run(second, key), c::answer::done);
  EXPECT_EQ(all.run(third, key), c::answer::no_memory);
  EXPECT_EQ(third.subject, nullptr);
  third.value_bytes = 2 << 20;
  EXPECT_EQ(all.run(third, key), c::answer::too_large);
  first.what = second.what = c::action::release;
  all.run(first, key);
  all.run(second, key);
  third.value_bytes = 128;
  EXPECT_EQ(all.run(third, key), c::answer::done);
  third.what = c::action::release;
  all.run(third, key);
  EXPECT_EQ(all.complaint(), "");
}

TEST(CacheStore, EachSizeHasRoomWhateverCameFirst) {
  one_cache all(1 << 20);
  for (int i = 0; i < 20'000; ++i) all.put("small" + std::to_string(i), "v");
  for (const std::size_t bytes : {100U, 1'000U, 10'000U, 100'000U, 1'000'000U}) {
    const std::string value(bytes, 'x');
    EXPECT_EQ(all.put("large", value), c::answer::done) << bytes;
    EXPECT_EQ(all.get("large"), value);
  }
  EXPECT_EQ(all.complaint(), "");
}

TEST(CacheStore, SizesOfMemoryHoldWhatTheyAreFor) {
  std::size_t before = 0;
  for (std::size_t bytes = 1; bytes <= c::largest_item; bytes += 1 + bytes / 7) {
    const unsigned which = c::slabs::class_of(bytes);
    ASSERT_LT(which, c::slabs::max_classes) << bytes;
    EXPECT_GE(c::slabs::size_of(which), bytes);
    EXPECT_GE(c::slabs::size_of(which), before);
    EXPECT_TRUE(which == 0 || c::slabs::size_of(which - 1) < bytes);
    before = c::slabs::size_of(which);
  }
  EXPECT_EQ(c::slabs::class_of(c::largest_item + 1), c::slabs::max_classes);
}

TEST(CacheStore, LookingAheadChangesNothing) {
  const std::size_t size = c::slabs::size_of(c::slabs::class_of(c::item::bytes_of(8, 8)));
  one_cache all(10 * size, 2, false);  // full, so that there is something to evict
  for (int i = 0; i < 9; ++i) EXPECT_EQ(all.put("key" + std::to_string(i), std::to_string(i)), c::answer::done);
  const c::item_key key("key3", 4);
  c::request mine{.what = c::action::take, .value_bytes = 1};
  ASSERT_EQ(all.run(mine, key), c::answer::done);
  all.now = 1'000;
  using c::action;
  for (const std::uint32_t accesses : {0U, 1U, 2U, 3U, 5U, 8U, 13U, 21U, 34U, 4096U}) {
    for (const action what : {action::get, action::take, action::put, action::join, action::release, action::count,
                              action::remove, action::touch, action::flush}) {
      c::request asked{.what = what, .now = 1'000, .expires = 500, .value_bytes = 1, .delta = 1, .key = &key};
      asked.subject = mine.subject;
      txsync::warm_ahead([&](auto& memory) { all.data().apply(memory, asked); }, accesses);
    }
  }
  mine.what = c::action::release;
  all.run(mine, key);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(all.get("key" + std::to_string(i)), std::to_string(i));
  EXPECT_EQ(all.said().stored, 9U);
  EXPECT_EQ(all.complaint(), "");
}

TEST(CacheStore, ItsCheckFindsWhatIsBroken) {
  one_cache all(1 << 20, 4);
  for (int i = 0; i < 20; ++i) all.put("key" + std::to_string(i), "value");
  ASSERT_EQ(all.complaint(), "");
  ++all.said().items;
  EXPECT_NE(all.complaint(), "") << "an item that is lost";
  --all.said().items;
  ++all.said().bytes;
  EXPECT_NE(all.complaint(), "");
  --all.said().bytes;

  c::item*& first = all.data().bucket_of(0);
  ASSERT_NE(first, nullptr);
  c::item* const kept = first;
  first = kept->next;
  EXPECT_NE(all.complaint(), "") << "a chain without its first";
  first = kept;
  ++kept->hash;
  EXPECT_NE(all.complaint().find("another bucket"), std::string::npos);
  --kept->hash;
  ++kept->references;
  EXPECT_NE(all.complaint().find("users"), std::string::npos);
  --kept->references;
  std::swap(kept->newer, kept->older);
  EXPECT_NE(all.complaint().find("order"), std::string::npos);
  std::swap(kept->newer, kept->older);
  EXPECT_EQ(all.complaint(), "");
}

TEST(CacheNumbers, AreThoseOfC) {
  const auto read = [](std::string_view text) {
    std::uint64_t number = 0;
    return c::read_number(text.data(), text.size(), number) ? std::to_string(number) : std::string("no");
  };
  EXPECT_EQ(read("12"), "12");
  EXPECT_EQ(read(" +012 x"), "12");
  EXPECT_EQ(read("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(read("-0"), "0");
  for (const char* const bad :
       {"", " ", "+", "-1", "1x", "0x1", "18446744073709551616", "99999999999999999999", "1.5"}) {
    EXPECT_EQ(read(bad), "no") << bad;
  }
  c::signed_number seen;
  EXPECT_TRUE(c::read_signed("-7", 2, seen));
  EXPECT_TRUE(seen.negative && seen.amount == 7);
}

TEST(CacheWorkload, FindsATornValueAndAForeignOne) {
  one_cache all;
  const c::item_key key(5);
  c::request asked{.what = c::action::take, .value_bytes = 131};
  ASSERT_EQ(all.run(asked, key), c::answer::done);
  c::item& one = *asked.subject;
  c::write_value(one, 5, 77);
  EXPECT_TRUE(c::value_is_right(one, 5));
  EXPECT_FALSE(c::value_is_right(one, 6));
  for (const unsigned at : {0U, 8U, 64U, 127U}) {
    one.value()[at] ^= 1;
    EXPECT_FALSE(c::value_is_right(one, 5)) << at;
    one.value()[at] ^= 1;
  }
  EXPECT_TRUE(c::value_is_right(one, 5));
  asked.what = c::action::release;
  all.run(asked, key);
}

w::parameters cache_with(std::uint64_t gets, std::uint64_t locking, std::uint64_t room) {
  w::parameters values = w::default_parameters(w::cache_workload);
  values.values[0] = 200;
  values.values[1] = gets;
  values.values[2] = locking;
  values.values[4] = room;
  return values;
}

TEST(CacheWorkload, PassesItsChecksWithAndWithoutRoomForAll) {
  for (const std::uint64_t locking : {0U, 1U}) {
    for (const std::uint64_t room : {100U, 40U, 1U}) {
      for (const unsigned threads : {1U, 4U}) {
        const w::outcome seen = c::run_requests<w::lockable<txsync::tatas_lock>>(
            cache_with(50, locking, room), w::plan{.threads = threads, .operations = 3'000});
        EXPECT_EQ(seen.fault, nullptr) << seen.fault << " locking " << locking << " room " << room;
        EXPECT_EQ(seen.operations, 3'000U * threads);
      }
    }
  }
}

}  // namespace

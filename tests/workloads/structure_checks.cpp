// SPDX-License-Identifier: Apache-2.0
// The checks of bank, list and hashmap find what a broken lock would leave behind: one wrong number or link at a time.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "workloads/generators/bank.hpp"
#include "workloads/generators/hashmap.hpp"
#include "workloads/generators/list.hpp"

namespace {

namespace w = txsync::workloads;

w::parameters with(const char* workload, const std::vector<std::pair<const char*, std::uint64_t>>& settings) {
  const w::workload& which = *w::find_workload(workload);
  w::parameters values = w::default_parameters(which);
  for (const auto& [key, value] : settings) values.values[w::find_parameter(which, key)] = value;
  return values;
}

void operate(w::structure& data, unsigned threads, unsigned operations) {
  for (unsigned i = 0; i < operations; ++i) {
    w::visitor& mine = data.visitor_of(i % threads);
    const w::section_list sections = mine.draw();
    for (unsigned section = 0; section < sections.count; ++section) {
      EXPECT_LT(sections.locks[section], data.locks());
      mine.apply(section);
    }
    mine.settle();
  }
}

/// What a check says, or "" when it says nothing.
std::string complaint_of(const w::structure& data) {
  const char* const said = data.complaint();
  return said != nullptr ? said : "";
}

constexpr w::plan two_threads{.threads = 2, .seed = 1};

// ---- bank

TEST(Bank, LosesNoMoneyAndFindsThatItDoes) {
  for (const std::uint64_t way : {0U, 1U, 2U}) {
    w::bank data(with("bank", {{"accounts", 100}, {"draws", way}}), two_threads);
    ASSERT_TRUE(data.ok());
    const std::uint64_t before = data.hash();
    operate(data, 2, 1'000);
    EXPECT_EQ(complaint_of(data), "");
    EXPECT_NE(data.hash(), before);
    ++data.balance(7);
    EXPECT_NE(complaint_of(data).find("do not add up"), std::string::npos);
  }
}

TEST(Bank, HasALockAnAccountOrOne) {
  EXPECT_EQ(w::bank(with("bank", {{"accounts", 100}}), two_threads).locks(), 100U);
  EXPECT_EQ(w::bank(with("bank", {{"accounts", 100}, {"locking", 1}}), two_threads).locks(), 1U);
}

TEST(Bank, ATransferIsTwoSectionsUnderTwoLocks) {
  w::bank data(with("bank", {{"accounts", 2}, {"reads", 0}}), two_threads);
  for (int i = 0; i < 100; ++i) {
    w::visitor& mine = data.visitor_of(0);
    const w::section_list sections = mine.draw();
    ASSERT_EQ(sections.count, 2U);
    EXPECT_NE(sections.locks[0], sections.locks[1]);
    mine.apply(0);
    EXPECT_NE(data.complaint(), nullptr) << "the money is on its way";
    mine.apply(1);
    EXPECT_EQ(data.complaint(), nullptr);
  }
}

TEST(Bank, PartitionsShareNoAccount) {
  w::bank data(with("bank", {{"accounts", 10}, {"reads", 0}, {"draws", 2}}), two_threads);
  for (int i = 0; i < 50; ++i) {
    for (const unsigned thread : {0U, 1U}) {
      const w::section_list sections = data.visitor_of(thread).draw();
      EXPECT_EQ(sections.locks[0] / 5, thread);
      EXPECT_EQ(sections.locks[1] / 5, thread);
    }
  }
}

// ---- list and hashmap: what holds for both

template <class Set>
class ValueSets : public testing::Test {
 public:
  static w::parameters values(std::uint64_t allocation = 0) {
    const char* const name = std::is_same_v<Set, w::value_list> ? "list" : "hashmap";
    return with(name, {{"items", 40}, {"values", 1'000}, {"allocation", allocation}});
  }
};
using Sets = testing::Types<w::value_list, w::value_map>;
TYPED_TEST_SUITE(ValueSets, Sets);

TYPED_TEST(ValueSets, KeepTheirValues) {
  for (const std::uint64_t allocation : {0U, 1U}) {
    TypeParam data(this->values(allocation), two_threads);
    ASSERT_TRUE(data.ok());
    EXPECT_EQ(complaint_of(data), "");
    const std::uint64_t before = data.hash();
    operate(data, 2, 5'000);
    EXPECT_EQ(complaint_of(data), "");
    EXPECT_NE(data.hash(), before);
  }
}

TYPED_TEST(ValueSets, FindALostAndAForeignItem) {
  TypeParam data(this->values(), two_threads);
  std::uint32_t present = 0;
  while (!data.find(present)) ++present;
  w::item* const gone = data.remove(present);
  ASSERT_NE(gone, nullptr);
  EXPECT_NE(complaint_of(data), "") << "an item is missing";
  gone->next = nullptr;
  gone->value = present != 0 ? present - 1 : 1;
  EXPECT_TRUE(data.insert(gone));
  EXPECT_NE(complaint_of(data), "") << "another value instead";
  ASSERT_EQ(data.remove(gone->value), gone);
  gone->next = nullptr;
  gone->value = present;
  gone->number = 1'000'000;
  ASSERT_TRUE(data.insert(gone));
  EXPECT_EQ(complaint_of(data), "") << "its thread's last insertion stands at the end";
}

/// Takes all items away behind the threads' backs; how many they were.
unsigned rob(w::value_set& data) {
  unsigned taken = 0;
  for (std::uint32_t value = 0; value < 1'000; ++value) {
    for (w::item* one = data.remove(value); one != nullptr; one = data.remove(value), ++taken) w::give_item(one);
  }
  return taken;
}

TYPED_TEST(ValueSets, FindAThreadThatMissesWhatItInserted) {
  TypeParam data(this->values(), two_threads);
  EXPECT_EQ(rob(data), 40U);
  operate(data, 2, 20);
  EXPECT_NE(complaint_of(data).find("did not find a value that it had inserted"), std::string::npos);
  rob(data);
}

// ---- their links

TEST(List, FindsWrongLinksAndAWrongOrder) {
  w::value_list data(with("list", {{"items", 10}}), two_threads);
  ASSERT_EQ(complaint_of(data), "");
  w::item* const second = data.first()->next;
  w::item* const third = second->next;

  std::swap(second->before, third->before);
  EXPECT_NE(complaint_of(data).find("the one before it"), std::string::npos);
  std::swap(second->before, third->before);

  // The items of two threads alternate: the first and the third are of one.
  std::swap(data.first()->number, third->number);
  EXPECT_NE(complaint_of(data).find("order of its insertions"), std::string::npos);
  std::swap(data.first()->number, third->number);

  w::item* const end = data.last();
  end->next = data.first();
  EXPECT_NE(complaint_of(data), "") << "a circle";
  end->next = nullptr;

  end->before->next = nullptr;
  EXPECT_NE(complaint_of(data), "") << "the last item is not reached";
  end->before->next = end;
  EXPECT_EQ(complaint_of(data), "");
}

TEST(List, TakesAValueTwiceAndRemovesTheFirst) {
  w::value_list data(with("list", {{"items", 0}}), two_threads);
  w::item one{.value = 5, .thread = 0, .number = 0};
  w::item two{.value = 5, .thread = 0, .number = 1};
  EXPECT_TRUE(data.insert(&one));
  EXPECT_TRUE(data.insert(&two));
  EXPECT_EQ(data.remove(5), &one);
  EXPECT_EQ(data.first(), &two);
  EXPECT_EQ(data.remove(5), &two);
  EXPECT_EQ(data.first(), nullptr);
  EXPECT_EQ(data.last(), nullptr);
}

TEST(Hashmap, FindsAValueInAnotherBucketAndAValueTwice) {
  w::value_map data(with("hashmap", {{"items", 40}, {"buckets", 10}, {"values", 1'000}}), two_threads);
  ASSERT_EQ(complaint_of(data), "");
  w::item* const first = data.head(3);
  ASSERT_NE(first, nullptr);
  ASSERT_NE(first->next, nullptr);
  std::swap(data.head(3), data.head(4));
  EXPECT_NE(complaint_of(data).find("another bucket"), std::string::npos);
  std::swap(data.head(3), data.head(4));
  const std::uint32_t kept = first->next->value;
  first->next->value = first->value;
  EXPECT_NE(complaint_of(data), "");
  first->next->value = kept;
  EXPECT_EQ(complaint_of(data), "");
}

TEST(Hashmap, TakesNoValueTwice) {
  w::value_map data(with("hashmap", {{"items", 0}, {"buckets", 10}}), two_threads);
  w::item one{.value = 5, .thread = 0, .number = 0};
  w::item same{.value = 5, .thread = 0, .number = 1};
  w::item neighbour{.value = 15, .thread = 0, .number = 1};
  EXPECT_TRUE(data.insert(&one));
  EXPECT_FALSE(data.insert(&same));
  EXPECT_TRUE(data.insert(&neighbour));
  EXPECT_EQ(one.next, &neighbour) << "at the end of its bucket";
  EXPECT_FALSE(data.find(25));
  EXPECT_EQ(data.remove(15), &neighbour);
  EXPECT_EQ(data.remove(5), &one);
  EXPECT_EQ(data.head(5), nullptr);
}

TEST(Hashmap, HasALockABucketOrOne) {
  w::value_map fine(with("hashmap", {{"buckets", 10}}), two_threads);
  EXPECT_EQ(fine.locks(), 10U);
  EXPECT_EQ(fine.lock_of(27), 7U);
  w::value_map coarse(with("hashmap", {{"buckets", 10}, {"locking", 1}}), two_threads);
  EXPECT_EQ(coarse.locks(), 1U);
  EXPECT_EQ(coarse.lock_of(27), 0U);
}

TEST(Hashmap, RemovalsOfDrawnValuesSeldomFindOneAndAreCounted) {
  const auto values = with("hashmap", {{"items", 40}, {"values", 100}, {"buckets", 10}, {"removes", 1}});
  w::value_map data(values, two_threads);
  operate(data, 2, 5'000);
  EXPECT_EQ(complaint_of(data), "");
}

}  // namespace

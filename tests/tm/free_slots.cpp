// SPDX-License-Identifier: Apache-2.0
// The heap of small objects: threads' lists of free slots, and slots that go from one thread to another.
#include <gtest/gtest.h>

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include <txsync/machine/memory.hpp>

#include "../locks/harness/budget.hpp"
#include "tm/heap.hpp"

namespace {

using txsync::tm::detail::free_slots;
using txsync::tm::detail::life;
using txsync::tm::detail::max_slot_bytes;
using txsync::tm::detail::slab;

#define NEEDS_OWN_HEAP() \
  if (max_slot_bytes == 0) GTEST_SKIP() << "the sanitizer has the heap"

/// An object that says whether another one was put over it.
struct kept {
  unsigned char* at;
  std::size_t bytes;
  unsigned char mark;

  kept(void* memory, std::size_t size, unsigned char with)
      : at(static_cast<unsigned char*>(memory)), bytes(size), mark(with) {
    std::memset(at, mark, bytes);
  }
  bool is_whole() const {
    for (std::size_t i = 0; i < bytes; ++i) {
      if (at[i] != mark) return false;
    }
    return true;
  }
};

TEST(FreeSlots, ObjectsOfEverySizeLieBesideEachOther) {
  NEEDS_OWN_HEAP();
  free_slots mine;
  std::vector<kept> all;
  for (std::size_t bytes = 1; bytes <= max_slot_bytes; bytes += 17) {
    for (unsigned i = 0; i < 2'500; ++i)
      all.emplace_back(mine.take(bytes), bytes, static_cast<unsigned char>(all.size()));
  }
  for (const kept& one : all) {
    ASSERT_TRUE(one.is_whole());
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(one.at) % 16, 0u);
    slab* const around = slab::of(one.at);
    ASSERT_NE(around, nullptr);
    ASSERT_EQ(around->life_of(one.at)->load(), life::living);
    ASSERT_EQ(around->life_of(one.at + 1), nullptr) << "no slot begins there";
  }
  for (const kept& one : all) {
    std::atomic<life>& known = *slab::of(one.at)->life_of(one.at);
    mine.give(one.at);
    if (slab::of(one.at)->life_of(one.at) != nullptr) {
      ASSERT_EQ(known.load(), life::destroyed);
    }
  }
}

TEST(FreeSlots, SlabsWithoutObjectsServeOtherSizes) {
  NEEDS_OWN_HEAP();
  free_slots first;
  free_slots second;
  std::set<slab*> before;
  std::set<slab*> after;
  std::vector<char*> made;
  for (unsigned i = 0; i < 20'000; ++i) made.push_back(static_cast<char*>(first.take(32)));
  for (char* const one : made) before.insert(slab::of(one));
  std::shuffle(made.begin(), made.end(), std::mt19937(1));
  for (char* const one : made) first.give(one);
  first.settle();
  for (unsigned i = 0; i < 1'000; ++i) after.insert(slab::of(second.take(400)));
  for (slab* const one : after) EXPECT_TRUE(before.contains(one));
}

TEST(FreeSlots, WhatIsMadeTogetherLiesTogether) {
  NEEDS_OWN_HEAP();
  free_slots mine;
  std::vector<char*> old;
  for (unsigned i = 0; i < 100'000; ++i) old.push_back(static_cast<char*>(mine.take(16)));
  std::shuffle(old.begin(), old.end(), std::mt19937(1));
  // A tenth stays, in every slab.
  for (unsigned i = 10'000; i < 100'000; ++i) mine.give(old[i]);
  std::set<slab*> used;
  for (unsigned i = 0; i < 1'000; ++i) used.insert(slab::of(mine.take(16)));
  EXPECT_LE(used.size(), 2u);
}

TEST(FreeSlots, MemoryOfManySlabsGoesBackToTheSystem) {
  NEEDS_OWN_HEAP();
  if (conformance::maybe_emulated) GTEST_SKIP() << "an emulator keeps the memory";
  free_slots mine;
  std::vector<char*> made;
  for (unsigned i = 0; i < 200'000; ++i) made.push_back(static_cast<char*>(std::memset(mine.take(512), 1, 512)));
  std::set<slab*> slabs;
  for (char* const one : made) slabs.insert(slab::of(one));
  for (char* const one : made) mine.give(one);
  const std::size_t page = txsync::machine::page_size();
  std::size_t resident = 0;
  for (slab* const one : slabs) {
    std::vector<unsigned char> is_there(slab::bytes / page);
    ASSERT_EQ(mincore(one, slab::bytes, is_there.data()), 0);
    for (const unsigned char each : is_there) resident += each & 1u;
  }
  EXPECT_LT(resident * page, slabs.size() * slab::bytes / 4);
}

TEST(FreeSlots, NoSlotIsGivenTwiceHoweverListsChange) {
  NEEDS_OWN_HEAP();
  free_slots lists[3];
  std::vector<kept> live;
  std::mt19937 random(1);
  bool grows = true;
  for (unsigned step = 0; step < 200'000; ++step) {
    if (live.size() > 3'000) grows = false;
    if (live.size() < 50) grows = true;
    free_slots& list = lists[random() % 3];
    if ((random() % 4 != 0) == grows || live.empty()) {
      const std::size_t bytes = random() % 2 == 0 ? 24 : 100;
      live.emplace_back(list.take(bytes), bytes, static_cast<unsigned char>(step));
      continue;
    }
    std::swap(live[random() % live.size()], live.back());
    ASSERT_TRUE(live.back().is_whole()) << "step " << step;
    if (random() % 8 == 0) {
      slab::of(live.back().at)->life_of(live.back().at)->store(life::destroyed);
      free_slots::give_to_owner(live.back().at);
    } else {
      list.give(live.back().at);
      if (random() % 8 == 0) list.give_back();
    }
    live.pop_back();
  }
  for (const kept& one : live) ASSERT_TRUE(one.is_whole());
}

TEST(FreeSlots, ThreadsFreeWhatOthersHaveMade) {
  NEEDS_OWN_HEAP();
  constexpr unsigned turns = 30;
  constexpr unsigned count = 1'000;
  free_slots maker;
  free_slots freer;
  std::uintptr_t highest = 0;
  std::uintptr_t lowest = ~std::uintptr_t{0};
  for (unsigned turn = 0; turn < turns; ++turn) {
    std::vector<kept> made;
    for (unsigned i = 0; i < count; ++i) made.emplace_back(maker.take(40), 40, static_cast<unsigned char>(i));
    for (const kept& one : made) {
      highest = std::max(highest, reinterpret_cast<std::uintptr_t>(one.at));
      lowest = std::min(lowest, reinterpret_cast<std::uintptr_t>(one.at));
    }
    std::thread([&] {
      for (const kept& one : made) {
        EXPECT_TRUE(one.is_whole());
        freer.give(one.at);
      }
      freer.give_back();
    }).join();
  }
  // What one thread frees comes back to the other one: the same slots serve all turns.
  EXPECT_LT(highest - lowest, std::uintptr_t{3} * count * 48 + 4 * slab::bytes);
}

TEST(FreeSlots, OtherAddressesAreInNoSlab) {
  int on_stack = 0;
  EXPECT_EQ(slab::of(&on_stack), nullptr);
  EXPECT_EQ(slab::of(nullptr), nullptr);
  EXPECT_EQ(slab::of(reinterpret_cast<void*>(~std::uintptr_t{0})), nullptr);
}

}  // namespace

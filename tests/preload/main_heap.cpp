// SPDX-License-Identifier: Apache-2.0
// What lies on the main heap is told from what lies in a loaded file, on a stack or in mapped memory.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <thread>

#include "preload/main_heap.hpp"

using txsync::preload::is_on_main_heap;

namespace {

long initialised = 1;
long zeroed;
thread_local long of_the_thread;

/// Memory of the data segment, whatever malloc makes of it under a sanitizer.
char* grow_heap(std::intptr_t bytes) { return static_cast<char*>(sbrk(bytes)); }

TEST(MainHeap, HoldsWhatLiesBelowItsEndOnly) {
  char* const first = grow_heap(4096);
  ASSERT_NE(reinterpret_cast<std::intptr_t>(first), -1);
  EXPECT_TRUE(is_on_main_heap(first));
  EXPECT_TRUE(is_on_main_heap(first + 4095));
  EXPECT_FALSE(is_on_main_heap(first + 4096));
}

TEST(MainHeap, Grows) {
  char* const first = grow_heap(4096);
  EXPECT_TRUE(is_on_main_heap(first));
  EXPECT_FALSE(is_on_main_heap(first + (1 << 20)));
  char* const second = grow_heap(2 << 20);
  EXPECT_TRUE(is_on_main_heap(second));
  EXPECT_TRUE(is_on_main_heap(first + (1 << 20)));
}

TEST(MainHeap, HoldsNothingElse) {
  EXPECT_TRUE(is_on_main_heap(grow_heap(4096)));  // both of its ends are known now
  long local = 0;
  EXPECT_FALSE(is_on_main_heap(&local));
  EXPECT_FALSE(is_on_main_heap(&initialised));
  EXPECT_FALSE(is_on_main_heap(&zeroed));
  EXPECT_FALSE(is_on_main_heap(&of_the_thread));
  EXPECT_FALSE(is_on_main_heap(stdout));
  EXPECT_FALSE(is_on_main_heap(nullptr));
  void* const mapped = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  EXPECT_FALSE(is_on_main_heap(mapped));
  munmap(mapped, 4096);
  std::thread([] {
    long local_there = 0;
    EXPECT_FALSE(is_on_main_heap(&local_there));
  }).join();
}

}  // namespace

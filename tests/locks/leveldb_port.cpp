// SPDX-License-Identifier: Apache-2.0
// What LevelDB is built with (integrations/leveldb/port), used as LevelDB uses it: writers in a queue, each with a
// condition variable on its stack. The first one works for several, without the lock, and notifies each of them and the
// next.
#include <gtest/gtest.h>

#include <deque>
#include <thread>
#include <vector>

#include "port/port_stdcxx.h"

namespace {

using leveldb::port::CondVar;
using leveldb::port::Mutex;

struct writer {
  explicit writer(Mutex* lock) : turn(lock) {}
  bool done = false;
  CondVar turn;
};

struct store {
  Mutex lock;
  std::deque<writer*> writers;
  bool working = false;  // guarded by being the first of the queue
  unsigned written = 0;
  unsigned groups = 0;
  bool overlapped = false;

  void write() {
    writer mine(&lock);
    lock.Lock();
    writers.push_back(&mine);
    while (!mine.done && writers.front() != &mine) mine.turn.Wait();
    if (!mine.done) lead(mine);
    lock.Unlock();
  }

  void lead(writer& mine) {
    writer* const last = writers.back();
    lock.AssertHeld();
    lock.Unlock();
    overlapped = overlapped || working;
    working = true;
    std::this_thread::yield();
    working = false;
    lock.Lock();
    ++groups;
    for (;;) {
      writer* const ready = writers.front();
      writers.pop_front();
      ++written;
      if (ready != &mine) {
        ready->done = true;
        ready->turn.Signal();
      }
      if (ready == last) break;
    }
    if (!writers.empty()) writers.front()->turn.Signal();
  }
};

TEST(LevelDbPort, WritersInAQueueAreAllServedOnce) {
  constexpr unsigned writes = 2'000;
  for (const unsigned threads : {1u, 2u, 4u, 8u}) {
    SCOPED_TRACE(threads);
    store all;
    std::vector<std::thread> team;
    for (unsigned i = 0; i < threads; ++i) {
      team.emplace_back([&] {
        for (unsigned n = 0; n < writes; ++n) all.write();
      });
    }
    for (std::thread& one : team) one.join();
    EXPECT_EQ(all.written, threads * writes);
    EXPECT_LE(all.groups, all.written);
    EXPECT_FALSE(all.overlapped);
    EXPECT_TRUE(all.writers.empty());
  }
}

TEST(LevelDbPort, SignalAllWakesAll) {
  Mutex lock;
  CondVar changed(&lock);
  unsigned waiting = 0;
  bool open = false;
  std::vector<std::thread> team;
  for (unsigned i = 0; i < 4; ++i) {
    team.emplace_back([&] {
      lock.Lock();
      ++waiting;
      while (!open) changed.Wait();
      --waiting;
      lock.Unlock();
    });
  }
  lock.Lock();
  while (waiting != team.size()) {
    lock.Unlock();
    std::this_thread::yield();
    lock.Lock();
  }
  open = true;
  changed.SignalAll();
  lock.Unlock();
  for (std::thread& one : team) one.join();
  EXPECT_EQ(waiting, 0u);
}

TEST(LevelDbPort, WhatIsNotThereSaysSo) {
  std::string text;
  std::size_t length = 0;
  EXPECT_FALSE(leveldb::port::Snappy_Compress("x", 1, &text));
  EXPECT_FALSE(leveldb::port::Snappy_GetUncompressedLength("x", 1, &length));
  EXPECT_FALSE(leveldb::port::Snappy_Uncompress("x", 1, text.data()));
  EXPECT_FALSE(leveldb::port::GetHeapProfile(nullptr, nullptr));
  EXPECT_EQ(leveldb::port::AcceleratedCRC32C(0, "x", 1), 0u);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// locks KIND: a correct program. With ThreadSanitizer and a library that has it no race is reported; nor is an error by
// memcheck.
#include <cstdio>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <txsync/locks/occ_rwlock.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/mutex.hpp>
#include <txsync/shared_mutex.hpp>
#include <txsync/speculate/elided.hpp>
#include <txsync/tm.hpp>
#include <vector>

namespace {

constexpr int times = 300;

template <class Work>
void in_threads(Work work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(work);
  for (std::thread& one : threads) one.join();
}

template <class Lock>
long counted() {
  static Lock lock;
  static long number = 0;
  in_threads([] {
    for (int i = 0; i < times; ++i) {
      const std::lock_guard held(lock);
      ++number;
    }
  });
  return number;
}

constinit txsync::tm::block adds{"adds"};
txsync::tm::var<long> sum{0};

long added() {
  in_threads([] {
    for (int i = 0; i < times; ++i) {
      txsync::tm::atomically(adds, [](auto& tx) { tx.write(sum, tx.read(sum) + 1); });
    }
  });
  return sum.load();
}

}  // namespace

int main(int, char** words) {
  const auto is = [&](const char* kind) { return std::strcmp(words[1], kind) == 0; };
  long got = 0;
  if (is("mutex")) got = counted<txsync::mutex>();
  if (is("shared_mutex")) got = counted<txsync::shared_mutex>();
  if (is("ticket")) got = counted<txsync::ticket_lock>();
  if (is("occ_rwlock")) got = counted<txsync::occ_rwlock>();
  if (is("elided")) got = counted<txsync::elided<txsync::mutex>>();
  if (is("blocks")) got = added();
  std::printf("%ld\n", got);
}

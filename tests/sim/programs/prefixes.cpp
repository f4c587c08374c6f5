// SPDX-License-Identifier: Apache-2.0
// prefixes: locks by atomic exchanges and stores with Intel's hints, on words of every width. All come out the same
// whether a lock is elided or taken. Says "all right", or which line was not.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

extern "C" unsigned txsync_sim_depth();

namespace {

#define EXPECT(what)                                                          \
  do {                                                                        \
    if (!(what)) std::printf("line %d: " #what "\n", __LINE__), std::exit(1); \
  } while (false)

constexpr int acquire = __ATOMIC_ACQUIRE | __ATOMIC_HLE_ACQUIRE;
constexpr int release = __ATOMIC_RELEASE | __ATOMIC_HLE_RELEASE;

/// A lock between two others' words, which an elision of it does not touch.
template <class Word>
struct alignas(64) lock_word {
  Word before = 3;
  Word word = 0;
  Word behind = 4;
  long counter = 0;

  void lock() {
    while (__atomic_exchange_n(&word, Word{1}, acquire) != 0) __builtin_ia32_pause();
  }
  void unlock() { __atomic_store_n(&word, Word{0}, release); }
  bool is_right(long expected) const { return before == 3 && word == 0 && behind == 4 && counter == expected; }
};

template <>
void lock_word<bool>::lock() {
  while (__atomic_test_and_set(&word, acquire)) __builtin_ia32_pause();
}
template <>
void lock_word<bool>::unlock() {
  __atomic_clear(&word, release);
}
template <>
bool lock_word<bool>::is_right(long expected) const {
  return before && !word && behind && counter == expected;
}

template <class Word>
void count_together() {
  static lock_word<Word> lock;
  constexpr int times = 20;
  const auto count = [] {
    for (int i = 0; i < times; ++i) {
      lock.lock();
      EXPECT(__atomic_load_n(&lock.word, __ATOMIC_RELAXED) == 1);  // to itself it looks taken
      lock.counter = lock.counter + 1;
      lock.unlock();
      EXPECT(txsync_sim_depth() == 0);
    }
  };
  std::thread other(count);
  count();
  other.join();
  EXPECT(lock.is_right(2 * times));
}

/// Given back in the order in which they were taken, or the other way round; more than can be elided, or nested.
void take_many(unsigned many, bool backwards) {
  static lock_word<std::uint16_t> locks[12];
  for (unsigned i = 0; i < many; ++i) locks[i].lock();
  for (unsigned i = 0; i < many; ++i) EXPECT(locks[i].word == 1);
  for (unsigned i = 0; i < many; ++i) locks[backwards ? many - 1 - i : i].unlock();
  EXPECT(txsync_sim_depth() == 0);
  for (const lock_word<std::uint16_t>& one : locks) EXPECT(one.is_right(0));
}

/// What is not given back as it was, in value or in width, was never elided.
void leave_as_not_found() {
  alignas(64) static std::uint32_t word = 5;
  EXPECT(__atomic_exchange_n(&word, 6u, acquire) == 5);
  __atomic_store_n(&word, 7u, release);
  EXPECT(txsync_sim_depth() == 0 && word == 7);
  EXPECT(__atomic_exchange_n(&word, 8u, acquire) == 7);
  __atomic_store_n(reinterpret_cast<std::uint16_t*>(&word), std::uint16_t{7}, release);
  EXPECT(txsync_sim_depth() == 0 && word == 7);
}

}  // namespace

int main() {
  count_together<std::uint8_t>();
  count_together<std::uint16_t>();
  count_together<std::uint32_t>();
  count_together<std::uint64_t>();
  count_together<bool>();
  for (const unsigned many : {1u, 2u, 5u, 12u}) {
    take_many(many, false);
    take_many(many, true);
  }
  leave_as_not_found();
  std::puts("all right");
}

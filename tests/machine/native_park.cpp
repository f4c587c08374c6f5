// SPDX-License-Identifier: Apache-2.0
// Sleeping and being told, and giving a lock up without an atomic instruction: no wake-up may get lost between the two.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/memory.hpp>
#include <txsync/machine/park.hpp>
#include <txsync/machine/restartable.hpp>
#include <txsync/machine/thread.hpp>

namespace {

namespace machine = txsync::machine;
using machine::park_result;

TEST(NativePark, AChangedWordDoesNotSleep) {
  const std::atomic<std::uint32_t> word{1};
  EXPECT_EQ(machine::park(word, 2), park_result::changed);
  const std::atomic<std::uint64_t> wide{std::uint64_t{3} << 32 | 9};
  EXPECT_EQ(machine::park_high(wide, 9), park_result::changed);
}

TEST(NativePark, GivesUpAtTheDeadlineNotBefore) {
  const std::atomic<std::uint32_t> word{1};
  EXPECT_EQ(machine::park(word, 1, 0), park_result::timed_out) << "a deadline that has passed";
  const std::uint64_t deadline = machine::clock_ns() + 5'000'000;
  park_result answer;
  do answer = machine::park(word, 1, deadline);
  while (answer == park_result::woken);  // spurious
  EXPECT_EQ(answer, park_result::timed_out);
  EXPECT_GE(machine::clock_ns(), deadline);
  const std::atomic<std::uint64_t> wide{std::uint64_t{3} << 32};
  EXPECT_EQ(machine::park_high(wide, 3, machine::clock_ns() + 1000), park_result::timed_out);
}

TEST(NativePark, UnparkWithoutSleepersAnswersZero) {
  const std::atomic<std::uint32_t> word{1};
  const std::atomic<std::uint64_t> wide{1};
  EXPECT_EQ(machine::unpark(word, machine::everyone), 0u);
  EXPECT_EQ(machine::unpark_high(wide, 1), 0u);
}

template <class Word>
struct sleepers {
  Word word{0};
  std::atomic<unsigned> awake{0};
};

TEST(NativePark, UnparkWakesAsManyAsItSays) {
  static sleepers<std::atomic<std::uint32_t>> all;
  all.word = 0;
  all.awake = 0;
  machine::thread threads[4];
  for (machine::thread& one : threads) {
    ASSERT_TRUE(one.start(
        [](void*) {
          while (all.word == 0) (void)machine::park(all.word, 0);
          ++all.awake;
        },
        nullptr));
  }
  // Those that slept at the time and saw no change go back to sleep.
  unsigned woken = 0;
  while (woken == 0) woken = machine::unpark(all.word, 1);
  EXPECT_EQ(woken, 1u);
  EXPECT_EQ(all.awake, 0u);
  all.word = 1;
  while (all.awake < 4) {
    (void)machine::unpark(all.word, machine::everyone);
    machine::yield();
  }
  for (machine::thread& one : threads) one.join();
}

/// A word that a forked child sees at another address too.
struct shared_word {
  machine::double_mapping at = machine::map_pages_twice(machine::page_size());
  std::atomic<std::uint32_t>& first = *static_cast<std::atomic<std::uint32_t>*>(at.first);
  std::atomic<std::uint32_t>& second = *static_cast<std::atomic<std::uint32_t>*>(at.second);
  ~shared_word() {
    machine::unmap_pages(at.first, machine::page_size());
    machine::unmap_pages(at.second, machine::page_size());
  }
};

TEST(NativePark, SharedComparesAndGivesUpLikePark) {
  const std::atomic<std::uint32_t> word{1};
  EXPECT_EQ(machine::park_shared(word, 2), park_result::changed);
  EXPECT_EQ(machine::park_shared(word, 1, 0), park_result::timed_out);
  EXPECT_EQ(machine::unpark_shared(word, 1), 0u);
}

TEST(NativePark, SharedWakesAnotherProcessAtAnotherAddress) {
  shared_word word;
  const pid_t child = fork();
  if (child == 0) {
    while (word.second == 0) (void)machine::park_shared(word.second, 0);
    _exit(7);
  }
  ASSERT_GT(child, 0);
  while (machine::unpark_shared(word.first, machine::everyone) == 0) machine::yield();
  word.first = 1;
  (void)machine::unpark_shared(word.first, machine::everyone);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(NativeReleases, LowBitsOnlyAndOnlyUnwaited) {
  machine::lock_word word{0x0000'0000'ABCD'0001};
  while (!machine::release_unless_waited(word, 0)) {
  }
  EXPECT_EQ(word.load(), 0x0000'0000'ABCD'0000u);
  word = 0xFFFF'FFFF'0000'0001;  // minus one waiter: nobody wants to be told
  while (!machine::release_unless_waited(word, 7)) {
  }
  EXPECT_EQ(word.load(), 0xFFFF'FFFF'0000'0007u);
  for (const std::uint64_t waited : {0x0000'0001'0000'0001u, 0x7FFF'FFFF'0000'0001u}) {
    word = waited;
    for (int i = 0; i < 1000; ++i) ASSERT_FALSE(machine::release_unless_waited(word, 0));
    EXPECT_EQ(word.load(), waited);
  }
}

TEST(NativeReleases, SettlingMayBeCalledAtAnyTime) {
  for (int i = 0; i < 100; ++i) machine::membarrier_releases();
}

/// One thread locks and releases, and counts its lockings in bits 16..31; another raises the high half, settles, and
/// looks. A lock that it saw held must then not be released past it.
struct handshake {
  machine::lock_word word{0};
  std::atomic<bool> refused{false};
  std::atomic<bool> stop{false};
};

constexpr std::uint64_t waiter = std::uint64_t{1} << 32;
constexpr std::uint64_t locking = (1u << 16) + 1;  // counted, and held
constexpr std::uint64_t unlocked_mask = ~std::uint64_t{0xFFFF};
constexpr std::uint64_t count_mask = 0xFFFF'0000;

std::uint16_t lockings(std::uint64_t word) { return static_cast<std::uint16_t>(word >> 16); }

/// Only the releaser counts, so that two steps will do where the count wraps around.
void count_and_lock(machine::lock_word& word) {
  if ((word.load() & count_mask) != count_mask) {
    word.fetch_add(locking);
  } else {
    word.fetch_and(~count_mask);
    word.fetch_or(1);
  }
}

void release_again_and_again(void* raw) {
  auto& both = *static_cast<handshake*>(raw);
  while (!both.stop) {
    count_and_lock(both.word);
    if (machine::release_unless_waited(both.word, 0)) continue;
    if (both.word.load() < waiter) {  // interrupted, without a waiter
      both.word.fetch_and(unlocked_mask);
      continue;
    }
    both.refused = true;
    while (both.refused && !both.stop) machine::yield();
  }
}

TEST(NativeReleases, NoneSlipsPastAWaiterThatHasSettled) {
  handshake both;
  machine::thread releaser;
  ASSERT_TRUE(releaser.start(release_again_and_again, &both));
  int slipped = 0;
  // A round takes some time slices where other programs want the processors, so the time is limited, too.
  const std::uint64_t start = machine::clock_ns();
  constexpr std::uint64_t max_ns = 5'000'000'000;
  constexpr std::uint64_t max_round_ns = 60'000'000'000;
  for (int round = 0; round < 40'000 && machine::clock_ns() - start < max_ns; ++round) {
    const std::uint64_t begun = machine::clock_ns();
    both.word.fetch_add(waiter);
    machine::membarrier_releases();
    const std::uint64_t seen = both.word.load();
    while (!both.refused && machine::clock_ns() - begun < max_round_ns) machine::yield();
    if (!both.refused) {
      ADD_FAILURE() << "round " << round << ": the releaser did not see the waiter; the word is " << both.word.load();
      break;
    }
    const bool held = (seen & 1) != 0;
    const auto since = static_cast<std::uint16_t>(lockings(both.word.load()) - lockings(seen));
    if (since > (held ? 0 : 1)) ++slipped;
    both.word = 0;
    both.refused = false;
  }
  both.stop = true;
  both.word = 0;
  releaser.join();
  EXPECT_EQ(slipped, 0);
}

/// The least lock that sleeps by the contract of restartable.hpp: waiters raise the high half, settle, look, sleep.
class sleeping_lock {
 public:
  void lock() noexcept {
    std::uint64_t seen = word_.load();
    if ((seen & held) == 0 && word_.compare_exchange_strong(seen, seen | held)) return;
    word_.fetch_add(one_waiter);
    machine::membarrier_releases();
    for (;;) {
      seen = word_.load();
      if ((seen & held) != 0) {
        (void)machine::park_high(word_, static_cast<std::uint32_t>(seen >> 32));
      } else if (word_.compare_exchange_strong(seen, (seen | held) - one_waiter)) {
        return;
      }
    }
  }
  void unlock() noexcept {
    if (machine::release_unless_waited(word_, 0)) return;
    word_.fetch_and(~held);
    (void)machine::unpark_high(word_, 1);
  }
  std::uint64_t raw() const noexcept { return word_.load(); }

 private:
  static constexpr std::uint64_t held = 1;
  static constexpr std::uint64_t one_waiter = std::uint64_t{1} << 32;
  machine::lock_word word_{0};
};

struct contended {
  sleeping_lock lock;
  long counter = 0;
  int rounds = 0;
};

/// Ends only when no wake-up is lost, and answers whether no update was.
bool count_together(unsigned threads, int rounds) {
  contended state;
  state.rounds = rounds;
  machine::thread running[8];
  for (unsigned i = 0; i < threads; ++i) {
    const bool started = running[i].start(
        [](void* raw) {
          auto& mine = *static_cast<contended*>(raw);
          for (int round = 0; round < mine.rounds; ++round) {
            mine.lock.lock();
            mine.counter = mine.counter + 1;
            if (round % 64 == 0) machine::yield();  // gives others the time to fall asleep
            mine.lock.unlock();
          }
        },
        &state);
    if (!started) std::abort();
  }
  for (unsigned i = 0; i < threads; ++i) running[i].join();
  return state.counter == static_cast<long>(threads) * rounds && state.lock.raw() == 0;
}

TEST(NativeReleases, NoWakeUpIsLost) {
  EXPECT_TRUE(count_together(1, 10'000));
  EXPECT_TRUE(count_together(2, 30'000));
  EXPECT_TRUE(count_together(8, 5'000));
}

TEST(NativeReleases, WorkInTheChildOfAFork) {
  const bool before = machine::releases_are_restartable();
  const pid_t child = fork();
  if (child == 0) {
    const bool same = machine::releases_are_restartable() == before;
    _exit(same && count_together(4, 5'000) ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace

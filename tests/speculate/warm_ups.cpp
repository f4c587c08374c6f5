// SPDX-License-Identifier: Apache-2.0
// Bodies that fault, loop for ever, throw, or walk over memory that is gone, run by a thread that waits for the lock:
// they disturb nobody, and nothing of them is seen (native machine).
#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <txsync/locks/mcs.hpp>
#include <txsync/locks/posix_mutex.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/machine/guarded.hpp>
#include <txsync/machine/memory.hpp>
#include <txsync/mutex.hpp>
#include <txsync/speculate/priority_tatas.hpp>
#include <txsync/speculate/warming.hpp>

namespace {

namespace machine = txsync::machine;
using txsync::section_memory;
using txsync::warm_memory;
using txsync::warm_up;

// ---- guarded bodies

TEST(Guarded, TellsHowItEnded) {
  int calls = 0;
  EXPECT_EQ(machine::run_guarded([](void* count) { ++*static_cast<int*>(count); }, &calls),
            machine::guarded_end::returned);
  EXPECT_EQ(machine::run_guarded([](void*) { machine::leave_guarded(); }, nullptr), machine::guarded_end::left);
  EXPECT_FALSE(machine::is_guarded());
  EXPECT_EQ(calls, 1);
}

TEST(Guarded, EndsAtAFaultAndGuardsAgain) {
  for (int i = 0; i < 3; ++i) {
    volatile std::uintptr_t nowhere = 8;
    const auto read = [](void* place) {
      (void)machine::peek(reinterpret_cast<const int*>(*static_cast<volatile std::uintptr_t*>(place)));
      FAIL() << "went on behind a fault";
    };
    EXPECT_EQ(machine::run_guarded(read, const_cast<std::uintptr_t*>(&nowhere)), machine::guarded_end::fault);
    EXPECT_FALSE(machine::is_guarded());
  }
}

TEST(Guarded, TakesWhatIsNoAddressForAFault) {
  volatile std::uintptr_t wild = 0xA5A5A5A5A5A5A5A0;
  const auto read = [](void* place) {
    (void)machine::peek(reinterpret_cast<const int*>(*static_cast<volatile std::uintptr_t*>(place)));
  };
  EXPECT_EQ(machine::run_guarded(read, const_cast<std::uintptr_t*>(&wild)), machine::guarded_end::fault);
}

#if defined(__x86_64__)
constexpr bool division_by_zero_faults = true;
#else
constexpr bool division_by_zero_faults = false;  // AArch64 and POWER answer something
#endif

/// As a body does that takes a hash modulo the number of buckets. UBSan would tell of zero before the machine does.
__attribute__((noinline, no_sanitize("undefined"))) std::uint64_t modulo(std::uint64_t hash, std::uint64_t buckets) {
  volatile const std::uint64_t rest = hash % buckets;
  return rest;
}

TEST(Guarded, EndsAtADivisionByZero) {
  for (int i = 0; i < 3; ++i) {
    volatile std::uint64_t buckets = 0;
    const auto divide = [](void* by) {
      (void)modulo(1'000, *static_cast<volatile std::uint64_t*>(by));
      EXPECT_FALSE(division_by_zero_faults) << "went on behind a fault";
    };
    EXPECT_EQ(machine::run_guarded(divide, const_cast<std::uint64_t*>(&buckets)),
              division_by_zero_faults ? machine::guarded_end::fault : machine::guarded_end::returned);
  }
}

TEST(Guarded, KeepsTheWayOfRoundingThroughAFault) {
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  volatile const double one = 1, three = 3;
  const double before = one / three;
  volatile std::uintptr_t nowhere = 8;
  const auto read = [](void* place) {
    (void)machine::peek(reinterpret_cast<const int*>(*static_cast<volatile std::uintptr_t*>(place)));
  };
  EXPECT_EQ(machine::run_guarded(read, const_cast<std::uintptr_t*>(&nowhere)), machine::guarded_end::fault);
  const int round = std::fegetround();
  const double after = one / three;
  ASSERT_EQ(std::fesetround(FE_TONEAREST), 0);
  EXPECT_EQ(round, FE_UPWARD);
  EXPECT_EQ(after, before);
  EXPECT_NE(after, one / three);
}

TEST(Guarded, WithinAnotherEndsAlone) {
  const auto outer = [](void* raw) {
    EXPECT_EQ(machine::run_guarded([](void*) {}, nullptr), machine::guarded_end::returned);
    EXPECT_TRUE(machine::is_guarded());
    EXPECT_EQ(machine::run_guarded([](void*) { machine::leave_guarded(); }, nullptr), machine::guarded_end::left);
    volatile std::uintptr_t nowhere = 8;
    const auto read = [](void* place) {
      (void)machine::peek(reinterpret_cast<const int*>(*static_cast<volatile std::uintptr_t*>(place)));
    };
    EXPECT_EQ(machine::run_guarded(read, const_cast<std::uintptr_t*>(&nowhere)), machine::guarded_end::fault);
    EXPECT_TRUE(machine::is_guarded());
    *static_cast<bool*>(raw) = true;
    read(const_cast<std::uintptr_t*>(&nowhere));
    FAIL() << "the outer body went on behind a fault";
  };
  bool went_on = false;
  EXPECT_EQ(machine::run_guarded(outer, &went_on), machine::guarded_end::fault);
  EXPECT_TRUE(went_on);
  EXPECT_FALSE(machine::is_guarded());
}

// ---- the memory of a waiter

TEST(WarmMemory, LoadsAndNeverStores) {
  warm_memory memory(100);
  std::uint64_t value = 7;
  EXPECT_EQ(memory.load(value), 7U);
  memory.store(value, 8);
  memory.update(value, [](std::uint64_t) -> std::uint64_t { throw std::logic_error("called"); });
  EXPECT_EQ(value, 7U);
}

TEST(WarmMemory, AnswersZeroWhenItsAccessesAreUsedUpAndNothingGuardsIt) {
  warm_memory memory(3);
  const std::uint64_t value = 7;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(memory.load(value), 7U);
  EXPECT_EQ(memory.load(value), 0U);
  EXPECT_TRUE(memory.over());
  const double real = 1.5;
  EXPECT_EQ(memory.load(real), 0.0);
}

TEST(WarmMemory, EndsWithTheWait) {
  static std::atomic<bool> ended{false};
  const txsync::lock_wait wait{[](const void*, std::uint64_t) noexcept { return ended.load(); }, nullptr, 0, 1};
  warm_memory memory(1'000'000);
  warm_memory of_wait(wait, 1'000'000);
  const std::uint64_t value = 7;
  EXPECT_EQ(of_wait.load(value), 7U);
  ended = true;
  std::uint64_t loads = 0;
  while (of_wait.load(value) == 7U) ++loads;
  EXPECT_LE(loads, 4U);
  EXPECT_EQ(memory.load(value), 7U);
}

TEST(WarmMemory, IsLeftAtTheFirstAccessAfterItsEnd) {
  std::uint64_t value = 7;
  unsigned loads = 0, asked = 0;
  bool returned = false;
  txsync::warm_ahead(
      [&](warm_memory& memory) {
        for (; loads < 10; ++loads) EXPECT_EQ(memory.load(value), 7U);
        for (; asked < 10; ++asked) EXPECT_TRUE(memory.over()) << "to ask is no access";
        memory.store(value, 8);
        returned = true;
      },
      10);
  EXPECT_EQ(loads, 10U);
  EXPECT_EQ(asked, 10U);
  EXPECT_FALSE(returned);
}

TEST(WarmMemory, OneWithinAnotherBodyEndsAlone) {
  std::uint64_t value = 7;
  unsigned inner = 0, outer = 0;
  txsync::warm_ahead([&](warm_memory& memory) {
    txsync::warm_ahead(
        [&](warm_memory& own) {
          for (; inner < 100; ++inner) EXPECT_EQ(own.load(value), 7U);
        },
        5);
    for (; outer < 10; ++outer) EXPECT_EQ(memory.load(value), 7U);
  });
  EXPECT_EQ(inner, 5U);
  EXPECT_EQ(outer, 10U);
}

TEST(WarmMemory, LoadsWhatIsNotAMultipleOfAWord) {
  warm_memory memory(100);
  const std::uint8_t byte = 0xFE;
  const std::int16_t two = -2;
  const float four = 0.5F;
  const char* const text = "text";
  const bool yes = true;
  EXPECT_EQ(memory.load(byte), 0xFE);
  EXPECT_EQ(memory.load(two), -2);
  EXPECT_EQ(memory.load(four), 0.5F);
  EXPECT_EQ(memory.load(text), text);
  EXPECT_TRUE(memory.load(yes));
}

/// Does nothing but fetch: what GCC 12 takes away where it is written with its own builtin.
[[gnu::noinline, maybe_unused]] void only_fetches(const std::uint64_t& read, std::uint64_t& written) {
  warm_memory memory(8);
  memory.fetch(&read, sizeof read);
  memory.store(written, 1);
}

TEST(WarmMemory, ItsFetchesAreInTheBinary) {
#if defined(__x86_64__) && defined(__OPTIMIZE__)
  std::uint64_t value = 1;
  only_fetches(value, value);
  unsigned char code[400];
  std::memcpy(code, reinterpret_cast<const void*>(&only_fetches), sizeof code);
  bool reads = false, writes = false;
  for (std::size_t i = 0; i + 2 < sizeof code; ++i) {
    if (code[i] != 0x0F) continue;
    reads = reads || code[i + 1] == 0x18;    // PREFETCHT0
    writes = writes || code[i + 1] == 0x0D;  // PREFETCHW
  }
  EXPECT_TRUE(reads);
  EXPECT_TRUE(writes);
#else
  GTEST_SKIP() << "knows the instructions of x86-64, inlined";
#endif
}

// ---- waiters

template <class Lock>
using of = txsync::warming<Lock>;

template <class Lock>
class Waiter : public testing::Test {
 protected:
  /// Holds the lock until a waiter has begun to run `body` over a warm memory, and looks that it then gets the lock.
  void wait_with(const std::function<void(warm_memory&)>& body) {
    std::atomic<bool> held{false};
    std::thread holder([&] {
      lock.lock();
      held = true;
      while (!warmed.load()) std::this_thread::yield();
      lock.unlock();
    });
    while (!held.load()) std::this_thread::yield();
    lock.section([&]<class Memory>([[maybe_unused]] Memory& memory) {
      if constexpr (Memory::speculative) {
        warmed = true;
        body(memory);
      } else {
        ++sections;
      }
    });
    holder.join();
    EXPECT_EQ(sections, 1U);
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
    EXPECT_FALSE(machine::is_guarded());
  }

  warm_up role{txsync::warm_up_presets::eager};
  of<Lock> lock{role};
  std::atomic<bool> warmed{false};
  unsigned sections = 0;
};
using locks = testing::Types<txsync::ticket_lock, txsync::fifo_ticket_lock, txsync::tatas_lock, txsync::futex_mutex,
                             txsync::mutex, txsync::posix_mutex, txsync::priority_tatas_lock>;
TYPED_TEST_SUITE(Waiter, locks);

TYPED_TEST(Waiter, SurvivesAFault) {
  this->wait_with([](warm_memory& memory) {
    const auto* const nowhere = reinterpret_cast<const std::uint64_t*>(std::uintptr_t{16});
    (void)memory.load(*nowhere);
    FAIL() << "went on behind a fault";
  });
}

TYPED_TEST(Waiter, SurvivesWhatThrows) {
  this->wait_with([](warm_memory&) { throw std::runtime_error("nobody hears of it"); });
}

TYPED_TEST(Waiter, SurvivesWhatNeverEnds) {
  std::uint64_t word = 1;
  this->wait_with([&](warm_memory& memory) {
    for (;;) (void)memory.load(word);
  });
}

TYPED_TEST(Waiter, SurvivesADivision) {
  std::uint64_t buckets = 7, sum = 0;
  this->wait_with([&](warm_memory& memory) {
    for (;;) sum += modulo(1'000, memory.load(buckets));  // also once the wait is over
  });
  EXPECT_EQ(sum % (1'000 % 7), 0U) << "zero was loaded";
}

TYPED_TEST(Waiter, SurvivesADivisionByZero) {
  std::uint64_t buckets = 0;
  this->wait_with([&](warm_memory& memory) {
    for (;;) (void)modulo(1'000, memory.load(buckets));
  });
}

TYPED_TEST(Waiter, SurvivesACircleOfNodes) {
  struct node {
    node* next;
  };
  node circle{&circle};
  this->wait_with([&](warm_memory& memory) {
    for (const node* at = &circle; at != nullptr;) at = memory.load(at->next);
  });
}

TYPED_TEST(Waiter, SurvivesNodesThatAreGone) {
  struct node {
    node* next;
  };
  void* const pages = machine::map_pages(machine::page_size());
  ASSERT_NE(pages, nullptr);
  auto* const first = new (pages) node{static_cast<node*>(pages) + 1};
  // As if they were unmapped, but that nobody else is given the address.
  ASSERT_TRUE(machine::protect_pages(pages, machine::page_size(), machine::page_rights::none));
  this->wait_with([&](warm_memory& memory) {
    for (const node* at = first; at != nullptr;) at = memory.load(at->next);
    FAIL() << "read what is gone";
  });
  machine::unmap_pages(pages, machine::page_size());
}

/// A list that several threads take apart and put together; waiters walk over nodes that are freed under them.
template <class Run>
void change_a_list(Run section, std::uint64_t& sum) {
  struct node {
    std::uint64_t value;
    node* next;
  };
  constexpr unsigned threads = 4, rounds = 2'000, length = 16;
  node* head = nullptr;
  for (unsigned i = 0; i < length; ++i) head = new node{i, head};
  std::vector<std::thread> team;
  for (unsigned t = 0; t < threads; ++t) {
    team.emplace_back([&] {
      for (unsigned i = 0; i < rounds; ++i) {
        section([&]<class Memory>(Memory& memory) {
          std::uint64_t seen = 0;
          node* last = nullptr;
          for (node* at = memory.load(head); at != nullptr; at = memory.load(at->next)) {
            seen += memory.load(at->value);
            last = at;
          }
          if constexpr (!Memory::speculative) {
            last->next = new node{head->value + 1, nullptr};
            delete std::exchange(head, head->next);
          } else if (last != nullptr) {
            memory.store(last->next, nullptr);
          }
        });
      }
    });
  }
  for (std::thread& one : team) one.join();
  sum = 0;
  while (head != nullptr) {
    sum += head->value;
    delete std::exchange(head, head->next);
  }
}
constexpr std::uint64_t sum_at_the_end = 16 * 15 / 2 + 4 * 2'000;

TYPED_TEST(Waiter, WalksOverNodesThatAreFreed) {
  std::uint64_t sum = 0;
  change_a_list([this](const auto& body) { this->lock.section(body); }, sum);
  EXPECT_EQ(sum, sum_at_the_end);
}

TEST(WaiterWithNode, WalksOverNodesThatAreFreed) {
  warm_up role{txsync::warm_up_presets::eager};
  txsync::warming_with_node<txsync::mcs_lock> lock(role);
  std::uint64_t sum = 0;
  change_a_list([&](const auto& body) { lock.section(body); }, sum);
  EXPECT_EQ(sum, sum_at_the_end);
}

// ---- what is run under the lock

TEST(Section, AnswersAndPassesExceptionsOn) {
  txsync::warming<txsync::ticket_lock> lock;
  std::uint64_t value = 1;
  EXPECT_EQ(lock.section([&](auto& memory) { return memory.load(value) + 1; }), 2U);
  const auto throws = [&](auto& memory) {
    memory.store(value, 5);
    if (!memory.over()) throw std::runtime_error("out");
  };
  EXPECT_THROW(lock.section(throws), std::runtime_error);
  EXPECT_EQ(value, 5U);
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

TEST(Section, WarmsUpNobodyWhereThePolicySaysSo) {
  constexpr txsync::warm_up_policy none{.tries = 0, .adapts = false};
  warm_up role(none);
  txsync::warming<txsync::tatas_lock> lock(role);
  std::atomic<unsigned> warmed{0};
  std::thread holder([&] {
    lock.lock();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    lock.unlock();
  });
  holder.join();
  lock.lock([&](warm_memory&) { ++warmed; });
  lock.unlock();
  EXPECT_EQ(warmed.load(), 0U);
}

TEST(WarmAhead, RunsTheBodyOnce) {
  unsigned runs = 0;
  std::uint64_t value = 3;
  txsync::warm_ahead([&](warm_memory& memory) {
    ++runs;
    memory.store(value, 4);
  });
  EXPECT_EQ(runs, 1U);
  EXPECT_EQ(value, 3U);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Bodies that fault, loop for ever, throw, or walk over memory that is gone, run by a thread that waits for the lock:
// they disturb nobody, and nothing of them is seen (native machine).
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <thread>
#include <type_traits>
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

TEST(Guarded, WithinAnotherIsPartOfThat) {
  const auto outer = [](void*) {
    EXPECT_EQ(machine::run_guarded([](void*) {}, nullptr), machine::guarded_end::returned);
    EXPECT_TRUE(machine::is_guarded());
    (void)machine::run_guarded([](void*) { machine::leave_guarded(); }, nullptr);
    FAIL() << "the outer body went on";
  };
  EXPECT_EQ(machine::run_guarded(outer, nullptr), machine::guarded_end::left);
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

TEST(WarmMemory, AnswersZeroWhenItsAccessesAreUsedUp) {
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
  /// Holds the lock until a waiter has run `body` over a warm memory, and looks that the waiter then gets the lock.
  void wait_with(const std::function<void(warm_memory&)>& body) {
    std::atomic<bool> held{false};
    std::thread holder([&] {
      lock.lock();
      held = true;
      while (!warmed.load()) std::this_thread::yield();
      lock.unlock();
    });
    while (!held.load()) std::this_thread::yield();
    lock.section([&](auto& memory) {
      if constexpr (std::remove_reference_t<decltype(memory)>::speculative) {
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
        section([&](auto& memory) {
          std::uint64_t seen = 0;
          node* last = nullptr;
          for (node* at = memory.load(head); at != nullptr; at = memory.load(at->next)) {
            seen += memory.load(at->value);
            last = at;
          }
          if constexpr (!std::remove_reference_t<decltype(memory)>::speculative) {
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

// SPDX-License-Identifier: Apache-2.0
// Bodies that fault, loop for ever, throw, or walk over freed memory, run by a thread that waits for the lock. They
// disturb nobody, and nothing of them is seen (native machine).
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <speculate/scoped_site.hpp>
#include <txsync/locks/futex_mutex.hpp>
#include <txsync/locks/mcs.hpp>
#include <txsync/locks/posix_mutex.hpp>
#include <txsync/locks/priority_tatas.hpp>
#include <txsync/locks/tatas.hpp>
#include <txsync/locks/ticket.hpp>
#include <txsync/machine/guarded.hpp>
#include <txsync/machine/memory.hpp>
#include <txsync/mutex.hpp>
#include <txsync/speculate/warming.hpp>

#include "../observe/site_totals.hpp"
#include "modulo.hpp"

namespace {

namespace machine = txsync::machine;
using txsync::scoped_site;
using txsync::section_memory;
using txsync::warm_memory;

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

  scoped_site place{txsync::warm_up_presets::eager};
  of<Lock> lock{place};
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
  bool was_zero = false;
  this->wait_with([&](warm_memory& memory) {
    for (;;) {
      const std::uint64_t loaded = memory.load(buckets);  // also once the wait is over
      was_zero = was_zero || loaded == 0;
      sum += modulo(1'000, loaded);
    }
  });
  EXPECT_FALSE(was_zero);
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

TYPED_TEST(Waiter, IsWarmBeforeItAsksForAFreeLock) {
  for (const txsync::warm_up_policy* const policy :
       {&txsync::warm_up_presets::early, &txsync::warm_up_presets::eager}) {
    scoped_site before(*policy);
    txsync::warming<TypeParam> free(before);
    unsigned early = 0;
    std::uint64_t number = 1;
    free.section([&]<class Memory>(Memory& memory) {
      if constexpr (Memory::speculative) {
        ++early;
        EXPECT_TRUE(free.try_lock());
        free.unlock();
      }
      memory.store(number, memory.load(number) + 1);
    });
    EXPECT_EQ(early, policy == &txsync::warm_up_presets::early ? 1U : 0U);
    EXPECT_EQ(number, 2U);
  }
}

TEST(Early, BodiesAreCountedAtTheSiteOfTheLock) {
  static constinit txsync::site_with_policy place{"warm_ups.early", txsync::warm_up_presets::early};
  txsync::warming<txsync::tatas_lock> lock(place);
  std::uint64_t number = 0;
  for (int i = 0; i < 3; ++i) lock.section([&](auto& memory) { memory.store(number, memory.load(number) + 1); });
  const txsync::observe::warm_totals seen = totals_of(place).warm_ups;
  EXPECT_EQ(seen.runs, 3u);
  EXPECT_EQ(seen.attempts, 0u);
  EXPECT_GT(seen.ns, 0u);
}

TEST(Early, BodiesEndByFaultsExceptionsAndTheirAccesses) {
  scoped_site place{txsync::warm_up_presets::early};
  txsync::warming_with_node<txsync::mcs_lock> lock(place);
  txsync::mcs_lock::node mine;
  std::uint64_t word = 1;
  unsigned loads = 0;
  lock.lock(mine, [](warm_memory& memory) {
    (void)memory.load(*reinterpret_cast<const std::uint64_t*>(std::uintptr_t{16}));
    FAIL() << "went on behind a fault";
  });
  lock.unlock(mine);
  lock.lock(mine, [](warm_memory&) { throw std::runtime_error("nobody hears of it"); });
  lock.unlock(mine);
  lock.lock(mine, [&](warm_memory& memory) {
    for (;; ++loads) (void)memory.load(word);
  });
  lock.unlock(mine);
  EXPECT_EQ(loads, txsync::warm_up_presets::early.max_accesses);
  EXPECT_FALSE(machine::is_guarded());
}

TEST(Early, AWaiterThatIsWarmAlreadySaysSoOnceToItsLock) {
  scoped_site place{txsync::warm_up_presets::early};
  const txsync::lock_wait wait{[](const void*, std::uint64_t) noexcept { return false; }, nullptr, 0, 1};
  unsigned ran = 0;
  const auto body = [&](warm_memory&) { ++ran; };
  txsync::detail::warm_call_of<decltype(body)> call(body);
  txsync::warm_wait mine(place, &call);
  mine.run_before_lock();
  EXPECT_EQ(mine.run_once(wait), txsync::wait_task::result::ran) << "by which priority_tatas_lock knows it";
  EXPECT_EQ(mine.run_once(wait), txsync::wait_task::result::nothing);
  EXPECT_EQ(ran, 1U);
}

TEST(Early, BodiesCountAmongTheSpeculators) {
  constexpr txsync::warm_up_policy one{
      .speculators = 1, .adapts = false, .early = txsync::prefetch_before_lock::always};
  scoped_site place(one);
  txsync::warming<txsync::ticket_lock> lock(place), other(place);
  unsigned within = 0, behind = 0;
  lock.lock([&](warm_memory&) {
    other.lock([&](warm_memory&) { ++within; });
    other.unlock();
  });
  lock.unlock();
  lock.lock([&](warm_memory&) { ++behind; });
  lock.unlock();
  EXPECT_EQ(within, 0U);
  EXPECT_EQ(behind, 1U) << "its place was not given on";
}

TEST(WaiterWithNode, WalksOverNodesThatAreFreed) {
  scoped_site place{txsync::warm_up_presets::eager};
  txsync::warming_with_node<txsync::mcs_lock> lock(place);
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
  scoped_site place(none);
  txsync::warming<txsync::tatas_lock> lock(place);
  std::atomic<unsigned> warmed{0};
  lock.lock();
  std::thread waiter([&] {
    lock.lock([&](warm_memory&) { ++warmed; });
    lock.unlock();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  lock.unlock();
  waiter.join();
  EXPECT_EQ(warmed.load(), 0U);
}

// ---- how many at a time

/// Bodies under way now, and the most that ever were.
struct crowd {
  std::atomic<unsigned> inside{0};
  std::atomic<unsigned> most{0};

  void enter() {
    const unsigned now = ++inside;
    unsigned before = most.load();
    while (before < now && !most.compare_exchange_weak(before, now)) {
    }
  }
};

TEST(Speculators, AreAsManyAsThePolicySaysAndTheirPlacesAreGivenOn) {
  constexpr unsigned waiters = 5, limit = 2;
  constexpr txsync::warm_up_policy two{.speculators = limit, .adapts = false};
  scoped_site place(two);
  txsync::warming<txsync::tatas_lock> lock(place);
  crowd bodies;
  std::atomic<unsigned> begun{0};
  std::atomic<bool> may_end{false};
  lock.lock();
  std::vector<std::thread> team;
  for (unsigned i = 0; i < waiters; ++i) {
    team.emplace_back([&] {
      lock.lock([&](warm_memory&) {
        bodies.enter();
        ++begun;
        while (!may_end.load()) std::this_thread::yield();
        --bodies.inside;
      });
      lock.unlock();
    });
  }
  while (begun.load() < limit) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(begun.load(), limit) << "more than may";
  may_end = true;
  while (begun.load() < waiters) std::this_thread::yield();  // each in its turn
  lock.unlock();
  for (std::thread& one : team) one.join();
  EXPECT_EQ(bodies.most.load(), limit);
}

TEST(Speculators, AreNeverMoreForAMoment) {
  constexpr unsigned waiters = 4, waits = 5'000;
  constexpr txsync::warm_up_policy one_at_a_time{.speculators = 1, .adapts = false};
  scoped_site place(one_at_a_time);
  crowd bodies;
  std::vector<std::thread> team;
  for (unsigned i = 0; i < waiters; ++i) {
    team.emplace_back([&] {
      const auto body = [&](warm_memory&) {
        bodies.enter();
        --bodies.inside;
      };
      const txsync::lock_wait wait{[](const void*, std::uint64_t) noexcept { return false; }, nullptr, 0, 1};
      for (unsigned n = 0; n < waits; ++n) {
        txsync::detail::warm_call_of<decltype(body)> call(body);
        txsync::warm_wait mine(place, &call);
        (void)mine.run_once(wait);
      }
    });
  }
  for (std::thread& one : team) one.join();
  EXPECT_EQ(bodies.most.load(), 1U);
}

// Ready before any constructor of static storage runs.
constinit txsync::warming<txsync::ticket_lock> without_site;
constinit txsync::warming_with_node<txsync::mcs_lock> with_node_without_site;

TEST(WarmingLock, ATryWithADeadlineAnswersWhetherItHasTheLock) {
  scoped_site where{txsync::warm_up_presets::eager};
  txsync::warming<txsync::futex_mutex> lock{where};
  EXPECT_TRUE(lock.try_lock_until_ns(machine::clock_ns()));
  std::thread([&] { EXPECT_FALSE(lock.try_lock_until_ns(machine::clock_ns() + 1'000'000)); }).join();
  lock.unlock();
  std::thread([&] {
    EXPECT_TRUE(lock.try_lock_until_ns(machine::clock_ns() + 1'000'000));
    lock.unlock();
  }).join();
}

TEST(WarmingLock, WithoutASiteNeedsNoConstructor) {
  EXPECT_EQ(&without_site.get_site(), &txsync::site::unnamed());
  EXPECT_EQ(&with_node_without_site.get_site(), &txsync::site::unnamed());
}

}  // namespace

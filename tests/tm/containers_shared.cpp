// SPDX-License-Identifier: Apache-2.0
// The containers of transactions among threads: what must be true at every moment, and that memory stays bounded.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "../sanitizers.hpp"
#include "every_algorithm.hpp"

namespace {

using stm::atomically;

class SharedContainers : public every_algorithm {};
TXSYNC_FOR_EVERY_ALGORITHM(SharedContainers);

constinit stm::block moving{"test.shared.move"};
constinit stm::block summing{"test.shared.sum"};
constinit stm::block filling{"test.shared.fill"};

constexpr unsigned team_size = 3;
constexpr int rounds = under_tsan || under_asan ? 1'000 : 10'000;

template <class Body>
void run_team(const Body& body) {
  std::vector<std::thread> team;
  for (unsigned index = 0; index < team_size; ++index) team.emplace_back([&body, index] { body(index); });
  for (std::thread& one : team) one.join();
}

/// Keys move between two maps, and each is in one of them at any moment; so is the sum of the values.
template <class Map, class Check>
void move_between(Map& here, Map& there, const Check& check) {
  constexpr int moved = 64;
  atomically(filling, [&](auto& tx) {
    for (int key = 0; key < moved; ++key) here.insert(tx, key, 1000 + key);
  });
  constexpr long all = 1000L * moved + moved * (moved - 1) / 2;
  std::atomic<int> wrong{0};
  run_team([&](unsigned index) {
    std::mt19937 random(index + 1);
    for (int i = 0; i < rounds; ++i) {
      const int key = static_cast<int>(random() % moved);
      const int other = static_cast<int>(random() % moved);
      atomically(moving, [&](auto& tx) {
        Map& from = here.contains(tx, key) ? here : there;
        Map& to = &from == &here ? there : here;
        const std::optional<long> value = from.find(tx, key);
        from.erase(tx, key);
        to.insert(tx, key, *value);
        // and a little from one to another
        for (Map* const one : {&here, &there}) {
          if (auto* const place = one->place_of(tx, other); place != nullptr) tx.write(*place, tx.read(*place) - 1);
          if (auto* const place = one->place_of(tx, key); place != nullptr) tx.write(*place, tx.read(*place) + 1);
        }
      });
      if (i % 8 != 0) continue;
      const bool right = atomically(summing, [&](auto& tx) {
        long sum = 0;
        std::size_t count = 0;
        for (Map* const one : {&here, &there}) {
          for (const auto& [at, value] : one->all(tx)) {
            sum += value;
            ++count;
          }
        }
        return sum == all && count == moved && check(tx, here) && check(tx, there);
      });
      if (!right) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST_P(SharedContainers, HashMapsKeepTheirSum) {
  stm::hash_map<int, long> here;
  stm::hash_map<int, long> there;
  move_between(here, there, [](auto&, auto&) { return true; });
}

TEST_P(SharedContainers, OrderedMapsKeepTheirSumAndTheirShape) {
  stm::ordered_map<int, long> here;
  stm::ordered_map<int, long> there;
  move_between(here, there, [](auto& tx, auto& map) { return map.check(tx) == nullptr; });
}

TEST_P(SharedContainers, SortedListsKeepTheirSumAndTheirOrder) {
  stm::sorted_list<int, long> here;
  stm::sorted_list<int, long> there;
  move_between(here, there, [](auto& tx, auto& list) {
    int before = -1;
    bool sorted = true;
    for (const auto& [key, value] : list.all(tx)) {
      sorted = sorted && before < key;
      before = key;
    }
    return sorted;
  });
}

TEST_P(SharedContainers, HashMapGrowsUnderItsUsers) {
  constexpr int each = rounds;
  stm::hash_map<int, long> map;
  run_team([&](unsigned index) {
    for (int i = 0; i < each; ++i) {
      const int key = i * static_cast<int>(team_size) + static_cast<int>(index);
      atomically(filling, [&](auto& tx) { map.insert(tx, key, -key); });
      const int earlier = key - static_cast<int>(team_size) * (i / 2);
      EXPECT_EQ(atomically(summing, [&](auto& tx) { return map.find(tx, earlier); }), -earlier);
    }
  });
  EXPECT_EQ(atomically(summing, [&](auto& tx) { return map.size(tx); }), team_size * each);
}

TEST_P(SharedContainers, QueueLosesNothingAndKeepsTheOrderOfEachProducer) {
  struct item {
    unsigned producer;
    int number;
  };
  constexpr int each = rounds;
  constexpr unsigned consumers = 2;
  stm::queue<item> queue;
  std::atomic<int> wrong{0};
  std::array<std::atomic<int>, team_size> taken{};
  std::vector<std::thread> takers;
  for (unsigned index = 0; index < consumers; ++index) {
    takers.emplace_back([&] {
      std::array<int, team_size> last;
      last.fill(-1);
      for (;;) {
        const item got = atomically(moving, [&](auto& tx) { return queue.pop(tx); });
        if (got.number == each) return;  // the end, for one consumer
        if (got.number <= last[got.producer]) ++wrong;
        last[got.producer] = got.number;
        ++taken[got.producer];
      }
    });
  }
  run_team([&](unsigned index) {
    for (int i = 0; i < each; ++i) atomically(filling, [&](auto& tx) { queue.push(tx, item{index, i}); });
  });
  for (unsigned index = 0; index < consumers; ++index) {
    atomically(filling, [&](auto& tx) { queue.push(tx, item{0, each}); });
  }
  for (std::thread& one : takers) one.join();
  EXPECT_EQ(wrong, 0);
  for (const std::atomic<int>& one : taken) EXPECT_EQ(one, each);
  EXPECT_TRUE(atomically(summing, [&](auto& tx) { return queue.empty(tx); }));
}

TEST_P(SharedContainers, LinkedListStaysLinkedBothWays) {
  stm::linked_list<int> list;
  constexpr int elements = 16;
  atomically(filling, [&](auto& tx) {
    for (int i = 0; i < elements; ++i) list.push_back(tx, i);
  });
  std::atomic<int> wrong{0};
  run_team([&](unsigned index) {
    std::mt19937 random(index + 1);
    for (int i = 0; i < rounds; ++i) {
      const unsigned steps = static_cast<unsigned>(random() % elements);
      atomically(moving, [&](auto& tx) {
        auto at = list.front(tx);
        for (unsigned n = 0; n < steps; ++n) at = list.next(tx, at);
        if (steps % 2 == 0) return list.move_to_front(tx, at);
        const int value = list.get(tx, at);
        list.erase(tx, at);
        list.push_back(tx, value);
      });
      if (i % 8 != 0) continue;
      const bool right = atomically(summing, [&](auto& tx) {
        unsigned forth = 0;
        unsigned back = 0;
        for (const int value : list.all(tx)) forth |= 1u << value;
        for (auto at = list.back(tx); at; at = list.previous(tx, at)) back |= 1u << list.get(tx, at);
        return forth == (1u << elements) - 1 && back == forth && list.size(tx) == elements;
      });
      if (!right) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST_P(SharedContainers, VectorGrowsUnderItsUsers) {
  stm::vector<int> vector;
  std::atomic<int> wrong{0};
  run_team([&](unsigned) {
    for (int i = 0; i < rounds; ++i) {
      atomically(filling, [&](auto& tx) { vector.push_back(tx, static_cast<int>(vector.size(tx))); });
      if (i % 64 != 0) continue;
      const bool right = atomically(summing, [&](auto& tx) {
        int expected = 0;
        for (const int value : vector.all(tx)) {
          if (value != expected++) return false;
        }
        return true;
      });
      if (!right) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(atomically(summing, [&](auto& tx) { return vector.size(tx); }), team_size * rounds);
}

/// A key that counts how many of it there are.
struct counted_key {
  static inline std::atomic<int> living{0};
  static inline std::atomic<int> most{0};
  explicit(false) counted_key(int initial) : number(initial) {}
  counted_key(const counted_key& other) : number(other.number), counted(true) {
    const int now = ++living;
    int before = most;
    while (before < now && !most.compare_exchange_weak(before, now)) {
    }
  }
  counted_key& operator=(const counted_key&) = delete;
  ~counted_key() {
    if (counted) --living;
  }
  bool operator==(const counted_key& other) const { return number == other.number; }
  const int number;
  const bool counted = false;
};
struct counted_hash {
  std::size_t operator()(const counted_key& key) const noexcept { return static_cast<std::size_t>(key.number); }
};

constexpr int churned = 256;
constexpr int churns = 20 * rounds;

/// Entries come and go in a map. Answers how many there were at a time, at most.
int max_in_churn() {
  counted_key::living = counted_key::most = 0;
  {
    stm::hash_map<counted_key, int, counted_hash> map;
    run_team([&](unsigned index) {
      std::mt19937 random(index + 1);
      for (int i = 0; i < churns; ++i) {
        const counted_key key(static_cast<int>(random() % churned));
        atomically(moving, [&](auto& tx) {
          if (!map.erase(tx, key)) map.insert(tx, key, i);
        });
      }
    });
    // Threads leave behind what somebody in the middle of a block could still look at; the next one's look frees it.
    std::thread([&] {
      for (int i = 0; i < 2 * churned; ++i) {
        const counted_key key(i % churned);
        atomically(moving, [&](auto& tx) { map.erase(tx, key); });
        atomically(moving, [&](auto& tx) { map.insert(tx, key, i); });
      }
    }).join();
    EXPECT_LE(counted_key::living, churned);
  }
  EXPECT_EQ(counted_key::living, 0);
  return counted_key::most;
}

TEST_P(SharedContainers, MemoryStaysBoundedAsEntriesComeAndGo) {
  constexpr int bound = static_cast<int>(team_size) * churns / 2 / 4 + static_cast<int>(team_size) * 8'192;
  int most = max_in_churn();
  // On a busy machine a thread may lose the processor in a block for so long that the others make that many meanwhile.
  // Where nothing were freed, no run would stay below.
  for (int again = 0; most >= bound && again < 4; ++again) most = max_in_churn();
  EXPECT_LT(most, bound);
}

}  // namespace

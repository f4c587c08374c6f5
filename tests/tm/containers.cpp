// SPDX-License-Identifier: Apache-2.0
// The containers of transactions against those of the standard library: random operations, some undone by an exception.
#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <deque>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <random>
#include <ranges>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../locks/harness/budget.hpp"
#include "every_algorithm.hpp"

namespace {

using stm::atomically;

class Containers : public every_algorithm {};
TXSYNC_FOR_EVERY_ALGORITHM(Containers);

constinit stm::block changing{"test.containers.change"};
constinit stm::block looking{"test.containers.look"};

const unsigned seeds = conformance::rounds(12);
constexpr int blocks_a_seed = 150;
constexpr int key_count = 97;

struct given_up {};

/// Runs blocks of some operations each on a container and its model: Operation{container}(tx, random, model) does one
/// to both. Every fourth block is given up, after which the model is what it was.
template <class Operation, class Container, class Compare>
void run_against_model(Container& container, const Compare& compare) {
  using model_type = typename Operation::model_type;
  const Operation operation{container};
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    model_type model;
    std::mt19937 random(seed);
    for (int i = 0; i < blocks_a_seed; ++i) {
      const std::mt19937 random_before = random;
      const model_type before = model;
      const bool gives_up = i % 4 == 3;
      try {
        atomically(changing, [&](auto& tx) {
          random = random_before;
          model = before;
          for (int n = 0; n < 6; ++n) operation(tx, random, model);
          if (gives_up) throw given_up();
        });
        EXPECT_FALSE(gives_up);
      } catch (const given_up&) {
        model = before;
      }
      ASSERT_NO_FATAL_FAILURE(atomically(looking, [&](auto& tx) { compare(tx, model); })) << "seed " << seed;
    }
    atomically(changing, [&](auto& tx) { container.clear(tx); });
  }
}

template <class Map, class Model>
struct map_operation {
  using model_type = Model;
  Map& map;
  template <class Tx>
  void operator()(Tx& tx, std::mt19937& random, Model& model) const {
    const int key = static_cast<int>(random() % key_count);
    const long value = static_cast<long>(random());
    switch (random() % 64) {
      case 0:
        map.clear(tx);
        return model.clear();
      default:
        break;
    }
    switch (random() % 6) {
      case 0:
      case 1:
        ASSERT_EQ(map.insert(tx, key, value), model.emplace(key, value).second);
        break;
      case 2:
        ASSERT_EQ(map.assign(tx, key, value), model.insert_or_assign(key, value).second);
        break;
      case 3:
      case 4:
        ASSERT_EQ(map.erase(tx, key), model.erase(key) == 1);
        break;
      default: {
        const auto found = model.find(key);
        ASSERT_EQ(map.find(tx, key), found != model.end() ? std::optional<long>(found->second) : std::nullopt);
        ASSERT_EQ(map.contains(tx, key), found != model.end());
        if (auto* const place = map.place_of(tx, key); place != nullptr) {
          tx.write(*place, tx.read(*place) + 1);
          ++found->second;
        }
      }
    }
  }
};

// What a body has seen lives outside of it: an attempt that is restarted does not destroy its local variables.
using pairs = std::vector<std::pair<int, long>>;

/// All entries, by iterators and by for_each(), in the order of the model where it has one.
template <class Map, class Model, class Tx>
void expect_same_entries(const Map& map, const Model& model, Tx& tx) {
  ASSERT_EQ(map.size(tx), model.size());
  ASSERT_EQ(map.empty(tx), model.empty());
  static pairs seen;
  seen.clear();
  for (const auto& [key, value] : map.all(tx)) seen.emplace_back(key, value);
  std::size_t visited = 0;
  map.for_each(tx, [&](int key, long value) {
    ASSERT_LT(visited, seen.size());
    ASSERT_EQ(seen[visited++], (std::pair<int, long>(key, value)));
  });
  ASSERT_EQ(visited, seen.size());
  if constexpr (requires { model.lower_bound(0); }) {
    ASSERT_EQ(seen, pairs(model.begin(), model.end()));
  } else {
    ASSERT_EQ((Model(seen.begin(), seen.end())), model);
  }
}

template <class Map, class Model, class Tx>
void expect_same_tails(const Map& map, const Model& model, Tx& tx) {
  for (int from = -1; from <= key_count; from += 7) {
    static pairs seen;
    seen.clear();
    for (const auto& [key, value] : map.all_from(tx, from)) seen.emplace_back(key, value);
    ASSERT_EQ(seen, pairs(model.lower_bound(from), model.end()));
  }
}

template <class Sequence, class Model, class Tx>
void expect_same_elements(const Sequence& sequence, const Model& model, Tx& tx) {
  ASSERT_EQ(sequence.size(tx), model.size());
  ASSERT_EQ(sequence.empty(tx), model.empty());
  static Model seen;
  seen.clear();
  for (const auto value : sequence.all(tx)) seen.push_back(value);
  ASSERT_EQ(seen, model);
}

TEST_P(Containers, HashMapIsAMap) {
  stm::hash_map<int, long> map;
  using operation = map_operation<decltype(map), std::unordered_map<int, long>>;
  run_against_model<operation>(map, [&](auto& tx, const auto& model) { expect_same_entries(map, model, tx); });
}

TEST_P(Containers, HashMapGrows) {
  constexpr int many = 20'000;
  stm::hash_map<int, long> map;
  for (int i = 0; i < many; i += 100) {
    atomically(changing, [&](auto& tx) {
      for (int n = i; n < i + 100; ++n) map.insert(tx, n, -n);
    });
  }
  atomically(looking, [&](auto& tx) {
    ASSERT_GE(map.chain_count(tx), many / 8);
    ASSERT_LE(map.chain_count(tx), 2 * many);
    ASSERT_EQ(map.size(tx), many);
    for (int i = 0; i < many; ++i) ASSERT_EQ(map.find(tx, i), -i);
    ASSERT_FALSE(map.contains(tx, many));
  });
}

TEST_P(Containers, HashMapPutsUpWithABadHash) {
  struct bad_hash {
    std::size_t operator()(int) const noexcept { return 7; }
  };
  constexpr int some = 600;
  stm::hash_map<int, int, bad_hash> map;
  for (int i = 0; i < some; ++i) {
    atomically(changing, [&](auto& tx) { ASSERT_TRUE(map.insert(tx, i, i)); });
  }
  atomically(looking, [&](auto& tx) {
    ASSERT_LE(map.chain_count(tx), 2 * some);
    ASSERT_EQ(map.size(tx), some);
  });
}

TEST_P(Containers, MapsTakeStringsAsKeys) {
  const std::string first(100, 'a');
  const std::string second(100, 'b');
  const std::string both = first + second;
  const auto try_map = [&](auto&& map) {
    atomically(changing, [&](auto& tx) {
      ASSERT_TRUE(map.insert(tx, second, 2));
      ASSERT_TRUE(map.insert(tx, first, 1));
    });
    EXPECT_THROW(atomically(changing,
                            [&](auto& tx) {
                              map.insert(tx, both, 3);
                              map.erase(tx, first);
                              throw given_up();
                            }),
                 given_up);
    atomically(changing, [&](auto& tx) {
      ASSERT_EQ(map.find(tx, first), 1);
      ASSERT_EQ(map.size(tx), 2u);
      ASSERT_TRUE(map.erase(tx, first));
      ASSERT_EQ(map.find(tx, second), 2);
    });
  };
  try_map(stm::hash_map<std::string, int>());
  try_map(stm::ordered_map<std::string, int>());
  try_map(stm::sorted_list<std::string, int>());
}

TEST_P(Containers, OrderedMapIsAMapAndARedBlackTree) {
  stm::ordered_map<int, long> map;
  using operation = map_operation<decltype(map), std::map<int, long>>;
  run_against_model<operation>(map, [&](auto& tx, const auto& model) {
    expect_same_entries(map, model, tx);
    expect_same_tails(map, model, tx);
    ASSERT_STREQ(map.check(tx), nullptr);
  });
}

TEST_P(Containers, OrderedMapStaysBalancedAsItGrowsAndShrinks) {
  constexpr int many = 1'000;
  stm::ordered_map<int, long> map;
  const auto check = [&](int left) {
    atomically(looking, [&](auto& tx) {
      ASSERT_STREQ(map.check(tx), nullptr);
      ASSERT_EQ(map.size(tx), static_cast<std::size_t>(left));
    });
  };
  for (int i = 0; i < many; ++i) {
    atomically(changing, [&](auto& tx) { ASSERT_TRUE(map.insert(tx, i, i)); });
    if (i % 61 == 0) check(i + 1);
  }
  for (int i = 0; i < many; ++i) {
    const int key = i % 2 == 0 ? i / 2 : many - 1 - i / 2;  // from both ends
    atomically(changing, [&](auto& tx) { ASSERT_TRUE(map.erase(tx, key)); });
    if (i % 61 == 0) check(many - 1 - i);
  }
  check(0);
}

TEST_P(Containers, SortedListIsAMap) {
  stm::sorted_list<int, long> map;
  using operation = map_operation<decltype(map), std::map<int, long>>;
  run_against_model<operation>(map, [&](auto& tx, const auto& model) {
    expect_same_entries(map, model, tx);
    expect_same_tails(map, model, tx);
  });
}

struct list_operation {
  using model_type = std::list<int>;
  stm::linked_list<int>& list;
  /// That element of both.
  template <class Tx>
  auto nth(Tx& tx, unsigned index) const {
    auto place = list.front(tx);
    for (unsigned i = 0; i < index; ++i) place = list.next(tx, place);
    return place;
  }
  template <class Tx>
  void operator()(Tx& tx, std::mt19937& random, model_type& model) const {
    const int value = static_cast<int>(random());
    const unsigned index = model.empty() ? 0 : static_cast<unsigned>(random() % model.size());
    const auto there = std::next(model.begin(), index);
    switch (random() % 10) {
      case 0:
        ASSERT_EQ(list.get(tx, list.push_front(tx, value)), value);
        return model.push_front(value);
      case 1:
        list.push_back(tx, value);
        return model.push_back(value);
      case 2:
      case 3:
      case 4:
        list.insert(tx, nth(tx, index), value);
        model.insert(there, value);
        return;
      case 5:
        ASSERT_EQ(list.pop_front(tx), model.empty() ? std::nullopt : std::optional<int>(model.front()));
        if (!model.empty()) model.pop_front();
        return;
      case 6:
        ASSERT_EQ(list.pop_back(tx), model.empty() ? std::nullopt : std::optional<int>(model.back()));
        if (!model.empty()) model.pop_back();
        return;
      default:
        break;
    }
    if (model.empty()) return;
    switch (random() % 3) {
      case 0:
        list.erase(tx, nth(tx, index));
        model.erase(there);
        return;
      case 1:
        list.set(tx, nth(tx, index), value);
        *there = value;
        return;
      default:
        list.move_to_front(tx, nth(tx, index));
        model.splice(model.begin(), model, there);
    }
  }
};

TEST_P(Containers, LinkedListIsAList) {
  stm::linked_list<int> list;
  run_against_model<list_operation>(list, [&](auto& tx, const auto& model) {
    expect_same_elements(list, model, tx);
    static std::list<int> back_to_front;
    back_to_front.clear();
    for (auto at = list.back(tx); at; at = list.previous(tx, at)) back_to_front.push_front(list.get(tx, at));
    ASSERT_EQ(back_to_front, model);
  });
}

struct queue_operation {
  using model_type = std::deque<int>;
  stm::queue<int>& queue;
  template <class Tx>
  void operator()(Tx& tx, std::mt19937& random, model_type& model) const {
    const int value = static_cast<int>(random());
    ASSERT_EQ(queue.front(tx), model.empty() ? std::nullopt : std::optional<int>(model.front()));
    switch (random() % 32 == 0 ? 9 : random() % 4) {
      case 0:
      case 1:
        queue.push(tx, value);
        return model.push_back(value);
      case 2:
        ASSERT_EQ(queue.try_pop(tx), model.empty() ? std::nullopt : std::optional<int>(model.front()));
        if (!model.empty()) model.pop_front();
        return;
      case 3:
        if (model.empty()) return;
        ASSERT_EQ(queue.pop(tx), model.front());
        return model.pop_front();
      default:
        queue.clear(tx);
        model.clear();
    }
  }
};

TEST_P(Containers, QueueIsAQueue) {
  stm::queue<int> queue;
  run_against_model<queue_operation>(queue,
                                     [&](auto& tx, const auto& model) { expect_same_elements(queue, model, tx); });
}

struct triple {
  int first;
  int second;
  int third;
  bool operator==(const triple&) const = default;
};

struct vector_operation {
  using model_type = std::vector<triple>;
  stm::vector<triple>& vector;
  template <class Tx>
  void operator()(Tx& tx, std::mt19937& random, model_type& model) const {
    const int number = static_cast<int>(random());
    const triple value{number, number + 1, number + 2};
    const std::size_t index = random() % (model.size() + 1);
    switch (random() % 32 == 0 ? random() % 3 + 9 : random() % 5) {
      case 0:
      case 1:
        vector.push_back(tx, value);
        return model.push_back(value);
      case 2:
        if (model.empty()) return;
        ASSERT_EQ(vector.pop_back(tx), model.back());
        return model.pop_back();
      case 3:
      case 4:
        if (index == model.size()) {
          ASSERT_THROW(vector.set(tx, index, value), std::out_of_range);
        } else {
          vector.set(tx, index, value);
          model[index] = value;
        }
        return;
      case 9:
        vector.resize(tx, index + 40, value);
        return model.resize(index + 40, value);
      case 10:
        vector.resize(tx, index);
        return model.resize(index);
      default:
        vector.clear(tx);
        model.clear();
    }
  }
};

TEST_P(Containers, VectorIsAVector) {
  stm::vector<triple> vector;
  run_against_model<vector_operation>(vector, [&](auto& tx, const auto& model) {
    expect_same_elements(vector, model, tx);
    ASSERT_GE(vector.capacity(tx), model.size());
    for (std::size_t i = 0; i < model.size(); ++i) ASSERT_EQ(vector.at(tx, i), model[i]);
    ASSERT_THROW(static_cast<void>(vector.at(tx, model.size())), std::out_of_range);
  });
}

/// Those of range-for and of <ranges>.
template <class Tx>
constexpr bool have_input_ranges() {
  using hashed = decltype(std::declval<stm::hash_map<int, long>&>().all(std::declval<Tx&>()));
  using ordered = decltype(std::declval<stm::ordered_map<int, long>&>().all(std::declval<Tx&>()));
  using sorted = decltype(std::declval<stm::sorted_list<std::string, long>&>().all(std::declval<Tx&>()));
  using list = decltype(std::declval<stm::linked_list<int>&>().all(std::declval<Tx&>()));
  using queue = decltype(std::declval<stm::queue<int>&>().all(std::declval<Tx&>()));
  using vector = decltype(std::declval<stm::vector<int>&>().all(std::declval<Tx&>()));
  static_assert(std::ranges::input_range<hashed> && std::ranges::input_range<ordered>);
  static_assert(std::ranges::input_range<sorted> && std::ranges::input_range<list>);
  static_assert(std::ranges::input_range<queue> && std::ranges::input_range<vector>);
  static_assert(std::input_iterator<std::ranges::iterator_t<ordered>>);
  static_assert(std::same_as<std::ranges::range_value_t<hashed>, stm::entry<int, long>>);
  static_assert(std::same_as<typename std::iterator_traits<std::ranges::iterator_t<vector>>::value_type, int>);
  return true;
}
static_assert(have_input_ranges<stm::transaction>() && have_input_ranges<stm::direct_transaction>());

TEST_P(Containers, AreInputRanges) {
  stm::ordered_map<int, long> ordered;
  stm::vector<int> vector;
  atomically(changing, [&](auto& tx) {
    for (int i = 1; i <= 10; ++i) {
      ordered.insert(tx, i, 10L * i);
      vector.push_back(tx, i);
    }
    const auto entries = ordered.all(tx);
    EXPECT_EQ(std::ranges::count_if(entries, [](const auto& one) { return one.value > 50; }), 5);
    const auto values = vector.all(tx);
    EXPECT_EQ((*std::ranges::find(values, 7)), 7);
    auto first = entries.begin();
    const auto other = entries.begin();
    EXPECT_TRUE(first == other);
    ++first;
    EXPECT_FALSE(first == other);
  });
}

TEST_P(Containers, WorkInIrrevocableBlocksToo) {
  static constinit stm::block always{"test.containers.irrevocable", {.irrevocable = true}};
  stm::hash_map<int, long> hashed;
  stm::ordered_map<int, long> ordered;
  stm::sorted_list<int, long> sorted;
  stm::linked_list<int> list;
  stm::queue<int> queue;
  stm::vector<int> vector;
  atomically(always, [&](auto& tx) {
    for (int i = 0; i < 200; ++i) {
      hashed.insert(tx, i, i);
      ordered.insert(tx, i, i);
      sorted.insert(tx, i, i);
      list.push_back(tx, i);
      queue.push(tx, i);
      vector.push_back(tx, i);
    }
    for (int i = 0; i < 200; i += 2) {
      ASSERT_TRUE(hashed.erase(tx, i));
      ASSERT_TRUE(ordered.erase(tx, i));
      ASSERT_TRUE(sorted.erase(tx, i));
    }
    ASSERT_EQ(queue.pop(tx), 0);
    ASSERT_EQ(list.pop_back(tx), 199);
    ASSERT_EQ(vector.pop_back(tx), 199);
    ASSERT_STREQ(ordered.check(tx), nullptr);
    ASSERT_EQ(hashed.size(tx), 100u);
    ASSERT_EQ(ordered.size(tx), 100u);
    ASSERT_EQ(sorted.size(tx), 100u);
  });
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// A search tree with one fair lock. While a thread waits for its turn, it walks to its key, so that the data is in its
// caches when it has the lock. docs/warm-up.md explains warm-up.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

#include <txsync/locks/ticket.hpp>
#include <txsync/speculate/warming.hpp>

namespace {

constinit txsync::site index_site{"index"};

class index {
 public:
  /// Adds one to the count of a key, and inserts the key if it is not there. The body is written once: a waiter runs it
  /// over a memory that loads and never stores.
  void count(std::uint32_t key) {
    lock_.section([&]<class Memory>(Memory& memory) {
      node** link = &root_;
      node* at = memory.load(*link);
      while (at != nullptr && memory.load(at->key) != key) {
        link = memory.load(at->key) < key ? &at->right : &at->left;
        at = memory.load(*link);
      }
      if (at != nullptr) {
        memory.update(at->count, [](std::uint64_t before) { return before + 1; });
      } else if constexpr (!Memory::speculative) {
        *link = &nodes_.emplace_back(node{.key = key});  // room was reserved: nodes stay where they are
      }
    });
  }

  std::uint64_t total() {
    std::uint64_t sum = 0;
    lock_.section([&]<class Memory>(Memory&) {
      if constexpr (!Memory::speculative) {
        for (const node& one : nodes_) sum += one.count;
      }
    });
    return sum;
  }

 private:
  struct node {
    std::uint32_t key;
    std::uint64_t count = 1;
    node* left = nullptr;
    node* right = nullptr;
  };
  static constexpr std::size_t room = 1 << 16;

  txsync::warming<txsync::ticket_lock> lock_{index_site};
  std::vector<node> nodes_ = [] {
    std::vector<node> empty;
    empty.reserve(room);
    return empty;
  }();
  node* root_ = nullptr;
};

constexpr unsigned threads = 4;
constexpr unsigned words = 20'000;

void count_words(index& all, std::uint32_t seed) {
  for (unsigned i = 0; i < words; ++i) {
    seed = seed * 1'664'525 + 1'013'904'223;
    all.count(seed >> 16);
  }
}

}  // namespace

int main() {
  index all;
  std::vector<std::thread> team;
  team.reserve(threads);
  for (unsigned i = 0; i < threads; ++i) team.emplace_back(count_words, std::ref(all), i);
  for (std::thread& one : team) one.join();
  const bool right = all.total() == std::uint64_t{threads} * words;
  std::printf("%llu words counted, %s\n", static_cast<unsigned long long>(all.total()),
              right ? "as many as there were" : "WRONG");
  return right ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// A warehouse with atomic blocks. In one step, a block takes an order from one of two queues, and its articles from the
// shelves. If there is no order, or too little on the shelf, the block waits, and has had no effect.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include <txsync/tm.hpp>

namespace {

namespace tm = txsync::tm;

constinit tm::block ordering{"inventory.order"};
constinit tm::block delivering{"inventory.deliver"};
constinit tm::block packing{"inventory.pack"};
constinit tm::block counting{"inventory.count"};

struct order {
  int article;  ///< none: there will be no more orders
  long pieces;
};
constexpr int none = -1;

class warehouse {
 public:
  void place(const order& what, bool urgent) {
    tm::atomically(ordering, [&](auto& tx) { (urgent ? urgent_ : usual_).push(tx, what); });
  }

  void deliver(int article, long pieces) {
    tm::atomically(delivering,
                   [&](auto& tx) { shelves_.assign(tx, article, shelves_.find(tx, article).value_or(0) + pieces); });
  }

  /// Takes an order, urgent ones first, and the articles that it asks for. Waits until both are there.
  order pack() {
    return tm::atomically(packing, [&](auto& tx) {
      order next{};
      tx.or_else([&](auto& inner) { next = urgent_.pop(inner); }, [&](auto& inner) { next = usual_.pop(inner); });
      if (next.article == none) return next;
      const long there = shelves_.find(tx, next.article).value_or(0);
      if (there < next.pieces) tx.retry();  // the order is back in its queue, until a delivery or another order
      shelves_.assign(tx, next.article, there - next.pieces);
      shipped_.assign(tx, next.article, shipped_.find(tx, next.article).value_or(0) + next.pieces);
      return next;
    });
  }

  struct totals {
    long on_shelves = 0;
    long shipped = 0;
  };
  /// The totals at one moment.
  totals count() {
    return tm::atomically(counting, [&](auto& tx) {
      totals sum;
      for (const auto& [article, pieces] : shelves_.all(tx)) sum.on_shelves += pieces;
      for (const auto& [article, pieces] : shipped_.all(tx)) sum.shipped += pieces;
      return sum;
    });
  }

 private:
  tm::queue<order> urgent_;
  tm::queue<order> usual_;
  tm::hash_map<int, long> shelves_;
  tm::ordered_map<int, long> shipped_;
};

}  // namespace

int main() {
  constexpr int packers = 2;
  constexpr int articles = 10;
  constexpr int orders = 20'000;
  constexpr long pieces_each = 3;

  warehouse house;
  std::atomic<int> packed = 0;
  std::atomic<bool> consistent = true;
  {
    std::vector<std::jthread> threads;
    threads.reserve(packers + 2);
    for (int i = 0; i < packers; ++i) {
      threads.emplace_back([&] {
        while (house.pack().article != none) ++packed;
      });
    }
    threads.emplace_back([&] {
      for (int n = 0; n < orders; ++n) house.place({n % articles, pieces_each}, n % 7 == 0);
      for (int i = 0; i < packers; ++i) house.place({none, 0}, false);  // after all others
    });
    threads.emplace_back([&] {
      for (int n = 0; n < orders; ++n) {
        house.deliver(n % articles, pieces_each);
        const warehouse::totals now = house.count();
        if (now.on_shelves + now.shipped != pieces_each * (n + 1)) consistent = false;
      }
    });
  }
  const warehouse::totals last = house.count();
  std::printf("packed %d of %d orders, shipped %ld pieces, %ld left\n", packed.load(), orders, last.shipped,
              last.on_shelves);
  return packed == orders && consistent && last.on_shelves == 0 && last.shipped == orders * pieces_each ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// The order book of an exchange, with atomic blocks. An order trades with what is offered at its price or better. What is
// left of it waits in the book. All of that is one step. Reports walk the whole book. In the end the program prints
// which path each block took: hardware transactions, or software.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

#include <txsync/machine/attempt.hpp>
#include <txsync/tm.hpp>

namespace {

namespace stm = txsync::tm;

constinit stm::block submitting{"orders.submit"};
constinit stm::block quoting{"orders.quote"};
constinit stm::block reporting{"orders.report"};

struct order {
  bool buys;
  long price;
  long shares;
};

class order_book {
 public:
  void submit(const order& what) {
    stm::atomically(submitting, [&](auto& tx) {
      const long left = what.buys ? trade(tx, asks_, what) : trade(tx, bids_, what);
      if (left == 0) return;
      if (what.buys) {
        rest(tx, bids_, what.price, left);
      } else {
        rest(tx, asks_, what.price, left);
      }
    });
  }

  /// False: the best buyer would pay what the best seller asks, so an order was not matched.
  bool is_sound() {
    return stm::atomically(quoting, [&](auto& tx) {
      const auto bids = bids_.all(tx);
      const auto asks = asks_.all(tx);
      if (bids.begin() == bids.end() || asks.begin() == asks.end()) return true;
      return (*bids.begin()).key < (*asks.begin()).key;
    });
  }

  struct totals {
    long bid = 0;
    long asked = 0;
    long traded = 0;
  };
  /// All shares at one moment.
  totals report() {
    return stm::atomically(reporting, [&](auto& tx) {
      totals sum;
      for (const auto& [price, shares] : bids_.all(tx)) sum.bid += shares;
      for (const auto& [price, shares] : asks_.all(tx)) sum.asked += shares;
      sum.traded = tx.read(traded_);
      return sum;
    });
  }

 private:
  /// Trades with the best offers of the other side. Returns what is left.
  template <class Transaction, class Side>
  long trade(Transaction& tx, Side& offers, const order& what) {
    long left = what.shares;
    while (left != 0) {
      const auto all = offers.all(tx);
      const auto best = all.begin();
      if (best == all.end()) break;
      const auto [price, shares] = *best;
      if (what.buys ? price > what.price : price < what.price) break;
      const long traded = shares < left ? shares : left;
      if (traded == shares) {
        offers.erase(tx, price);
      } else {
        offers.assign(tx, price, shares - traded);
      }
      tx.write(traded_, tx.read(traded_) + traded);
      left -= traded;
    }
    return left;
  }
  template <class Transaction, class Side>
  void rest(Transaction& tx, Side& offers, long price, long shares) {
    offers.assign(tx, price, offers.find(tx, price).value_or(0) + shares);
  }

  stm::ordered_map<long, long, std::greater<>> bids_;  ///< the best, which is the highest, first
  stm::ordered_map<long, long> asks_;
  alignas(64) stm::var<long> traded_{0};
};

/// A stream of orders around a price.
class trader {
 public:
  explicit trader(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u | 1) {}
  order next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    const bool buys = state_ % 2 != 0;
    const auto off = static_cast<long>(state_ / 2 % 100);
    return {buys, buys ? 1'000 - off / 2 : 1'000 + off / 2 - 10, 1 + static_cast<long>(state_ / 256 % 20)};
  }

 private:
  std::uint64_t state_;
};

void print_path(stm::block& where) {
  const stm::block_totals counts = stm::totals(where);
  const stm::block_path path = stm::path_of(where);
  std::printf("%-14s %8llu in hardware, %8llu in software", where.name(),
              static_cast<unsigned long long>(counts.hardware),
              static_cast<unsigned long long>(counts.commits - counts.hardware));
  if (path.hardware_cycles != 0 && path.software_cycles != 0) {
    std::printf("; prefers %s: %.0f cycles in hardware, %.0f in software", path.in_hardware ? "hardware" : "software",
                path.hardware_cycles, path.software_cycles);
  }
  std::printf("\n");
  for (std::size_t i = 0; i < txsync::abort_cause_count; ++i) {
    if (counts.aborts[i] == 0) continue;
    std::printf("%-14s %8llu aborts: %s\n", "", static_cast<unsigned long long>(counts.aborts[i]),
                to_string(static_cast<txsync::abort_cause>(i)));
  }
}

}  // namespace

int main() {
  constexpr unsigned traders = 3;
  constexpr int orders_each = 30'000;
  constexpr int orders_per_report = 100;

  order_book book;
  std::atomic<bool> consistent = true;
  std::atomic<long> bought = 0;
  std::atomic<long> sold = 0;
  {
    std::vector<std::jthread> threads;
    threads.reserve(traders);
    for (unsigned i = 0; i < traders; ++i) {
      threads.emplace_back([&, i] {
        trader mine(i + 1);
        for (int n = 0; n < orders_each; ++n) {
          const order one = mine.next();
          (one.buys ? bought : sold) += one.shares;
          book.submit(one);
          if (!book.is_sound()) consistent = false;
          if (n % orders_per_report == 0) static_cast<void>(book.report());
        }
      });
    }
  }
  const order_book::totals last = book.report();
  std::printf("%ld shares traded, %ld wait to be bought, %ld to be sold; algorithm: %s\n", last.traded, last.bid,
              last.asked, stm::algorithm_in_use());
  if (!txsync::machine::htm().attempts) std::printf("this machine runs no hardware transactions\n");
  for (stm::block* const one : {&submitting, &quoting, &reporting}) print_path(*one);
  return consistent && last.bid + last.traded == bought && last.asked + last.traded == sold ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
#include <txsync/tm.hpp>

struct order {
  int article = 0;
  long pieces = 0;
};

//@ constinit txsync::tm::block ship{"shop.ship"};

int run() {
  //@ const order next = txsync::tm::atomically(ship, [&](auto& tx) {
  return next.article;
}

long total() {
  return txsync::tm::atomically(ship, [&](auto& tx) {
    long sum = 0;
    //@ for (const auto& [article, pieces] : shelves.all(tx)) sum += pieces;
    return sum;
  });
}

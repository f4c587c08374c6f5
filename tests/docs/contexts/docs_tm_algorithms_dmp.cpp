// SPDX-License-Identifier: Apache-2.0
#include <txsync/tm.hpp>

namespace stm = txsync::tm;

//@ stm::in_heap<stm::hash_map<long, long>> accounts;       // class 0

void run() {
  stm::atomically(transfer, [&](auto& tx) { accounts->insert(tx, 1, 100); });
  stm::atomically(report, [&](auto& tx) { log->push_back(tx, 1); });
}

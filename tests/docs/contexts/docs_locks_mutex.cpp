// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <txsync/mutex.hpp>
#include <txsync/site.hpp>

//@ constinit txsync::site orders{"shop.orders"};

void run() {
  //@ std::lock_guard guard(orders_lock);
}

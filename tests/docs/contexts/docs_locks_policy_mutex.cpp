// SPDX-License-Identifier: Apache-2.0
#include <txsync/policy_mutex.hpp>
#include <txsync/site.hpp>

//@ constinit txsync::site orders{"shop.orders"};

void begin() {
  //@ orders.set_policy(txsync::lock_policy::ticket);   // before the lock is used
}

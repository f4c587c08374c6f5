// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <mutex>
#include <txsync/speculate/elided_condition_variable.hpp>
//@ #include <txsync/mutex.hpp>

long balance = 100;

void take() {
  //@ std::lock_guard guard(accounts_lock);
  --balance;
}

void pay(long amount) {
  //@ txsync::elided_guard guard(accounts_lock);
}

void wait_for(long amount) {
  //@ txsync::elided_condition_variable paid_in;
}

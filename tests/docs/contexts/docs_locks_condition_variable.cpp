// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <txsync/condition_variable.hpp>
#include <txsync/mutex.hpp>

txsync::mutex m;
txsync::condition_variable changed;
bool ready = false;

void wait() {
  //@ std::unique_lock lock(m);
}

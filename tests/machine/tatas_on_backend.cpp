// SPDX-License-Identifier: Apache-2.0
// Compiled once for each back end; RUN_NAME is the C function that the test calls.
#include <txsync/locks/tatas.hpp>
#include <txsync/machine/environment.hpp>

extern "C" const char* RUN_NAME(int sections, int* counted) {
  static constinit txsync::tatas_lock lock;
  for (int i = 0; i < sections; ++i) {
    lock.lock();
    if (!lock.try_lock()) ++*counted;
    lock.unlock();
  }
  return txsync::machine::backend_name();
}

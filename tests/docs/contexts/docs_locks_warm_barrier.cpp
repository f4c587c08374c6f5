// SPDX-License-Identifier: Apache-2.0
#include <txsync/speculate/warm_barrier.hpp>

void meet() {
  //@ txsync::warm_barrier all(4);
}

// SPDX-License-Identifier: Apache-2.0
#include <txsync/barrier.hpp>

void meet() {
  //@ txsync::barrier all(4);
}

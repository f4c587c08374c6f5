// SPDX-License-Identifier: Apache-2.0
#include <txsync/locks/mcs.hpp>

void run() {
  //@ txsync::mcs_lock lock;
}

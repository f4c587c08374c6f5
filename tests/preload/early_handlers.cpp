// SPDX-License-Identifier: Apache-2.0
#include "early_handlers.hpp"

pthread_mutex_t early_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t early_condition = PTHREAD_COND_INITIALIZER;
int early_handler_errors = 0;

namespace {

void prepare() { early_handler_errors += pthread_mutex_lock(&early_mutex) != 0; }

void in_parent() { early_handler_errors += pthread_mutex_unlock(&early_mutex) != 0; }

void in_child() {
  in_parent();
  // In the child's handler already the lock has to be the child's.
  for (int i = 0; i < 3; ++i) {
    early_handler_errors += pthread_mutex_lock(&early_mutex) != 0;
    early_handler_errors += pthread_cond_broadcast(&early_condition) != 0;
    early_handler_errors += pthread_mutex_unlock(&early_mutex) != 0;
  }
}

[[gnu::constructor]] void begin() { pthread_atfork(prepare, in_parent, in_child); }

}  // namespace

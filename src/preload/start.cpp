// SPDX-License-Identifier: Apache-2.0
// What happens when the library is loaded, and in the child of a fork.
#include <pthread.h>

#include <txsync/machine/environment.hpp>

#include "contention.hpp"
#include "next.hpp"
#include "observe/blocks.hpp"
#include "sites.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

namespace {

[[gnu::constructor]] void start() noexcept {
  (void)next();
  (void)machine::random_seed();  // asks the system, which a sandbox may forbid later
  if (open_file() == nullptr) return;
  // The child counts for itself, in the same file.
  pthread_atfork(nullptr, nullptr, [] {
    open_file()->processes.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
    observe::forget_blocks();
    forget_contention();
  });
}

[[gnu::destructor]] void finish() noexcept {
  if (open_file() != nullptr) observe::end_of_process();
}

}  // namespace

}  // namespace txsync::inline TXSYNC_BACKEND::preload

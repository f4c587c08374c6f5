// SPDX-License-Identifier: Apache-2.0
// What happens when the library is loaded, and in the child of a fork.
#include <pthread.h>
#include <unistd.h>

#include <txsync/machine/environment.hpp>

#include "contention.hpp"
#include "found_once.hpp"
#include "identity.hpp"
#include "interpose.hpp"
#include "locks/left_tickets.hpp"
#include "next.hpp"
#include "observe/blocks.hpp"
#include "sites.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

/// If all locks are the C library's, no thread asks for its number. The child would not know what its own thread held.
void before_fork() noexcept { (void)thread_number(); }

/// In the child of a fork, which counts for itself, in the same file. Also called in signal handlers.
void begin_child() noexcept {
  renew_identity();
  detail::forget_all_left();
  channel::head* const file = open_file();
  if (file == nullptr) return;
  file->processes.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
  observe::forget_blocks();
  forget_contention();
}

[[gnu::constructor]] void start() noexcept {
  (void)next();
  (void)machine::random_seed();  // asks the system, which a sandbox may forbid later
  pthread_atfork(before_fork, nullptr, begin_child);
  (void)open_file();
}

[[gnu::destructor]] void finish() noexcept {
  if (open_file() != nullptr) observe::end_of_process();
}

struct fork_function {
  pid_t (*call)();
};
void find_fork(fork_function& out) noexcept { find_next(out.call, "_Fork"); }

}  // namespace

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

using namespace txsync::preload;

// It calls no handlers of pthread_atfork(), unlike fork(). Signal handlers may call it.
TXSYNC_INTERPOSE pid_t _Fork() noexcept {
  before_fork();
  const pid_t child = found_once<fork_function, find_fork>().call();
  if (child == 0) begin_child();
  return child;
}

// SPDX-License-Identifier: Apache-2.0
// Sleeping as a cancellation point. Compiled without exceptions, so that the clean-up is the C library's own kind. A
// cancelled thread then unwinds through here as through a C function.
#include <pthread.h>
#include <unistd.h>

#include <cerrno>

#include <txsync/machine/park.hpp>

#include "futex_wait.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

park_result park_cancelably(const std::atomic<std::uint32_t>& word, std::uint32_t expected, wait_clock clock,
                            std::uint64_t deadline_ns, void (*clean_up)(void*), void* argument) {
  const int operation =
      FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG | (clock == wait_clock::realtime ? FUTEX_CLOCK_REALTIME : 0);
  park_result result = park_result::woken;
  pthread_cleanup_push(clean_up, argument);
  // Asynchronous only during the system call, so that the thread does not sleep after a cancellation that came just
  // before. If one comes just after the call, the word may or may not have changed; clean_up checks it.
  int before = PTHREAD_CANCEL_DEFERRED;
  // NOLINTNEXTLINE(concurrency-thread-canceltype-asynchronous): nothing but a system call is interrupted
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
  result = detail::futex_wait(&word, operation, expected, deadline_ns);
  pthread_setcanceltype(before, nullptr);
  // Up to glibc 2.40 an asynchronous thread is cancelled in two steps: the cancellation is announced, then a signal is
  // sent. The signal's handler overwrites what the thread returned, even if that has happened meanwhile. The C
  // library's own cancellation points therefore wait for an announced signal. So this thread passes through a cheap one
  // of them, read(), which every sandbox allows.
  const int saved_errno = errno;
  char nothing;
  (void)!read(-1, &nothing, 0);
  errno = saved_errno;
  pthread_cleanup_pop(0);
  return result;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

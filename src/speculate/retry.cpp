// SPDX-License-Identifier: Apache-2.0
#include <txsync/speculate/elided.hpp>

#include "locks/backoff.hpp"

namespace txsync::inline TXSYNC_BACKEND::detail {

namespace {

constexpr std::uint64_t shortest_wait = 64;  // cycles between two looks at a lock that is held

}  // namespace

void retry::back_off() noexcept {
  // Threads that met once meet again when they come back after the same time (thesis 2.4; always-abort paper, IV-A).
  jitter random(this);
  pause_for(random.upto(pause_));
  if (pause_ < rules_.longest_backoff) pause_ *= 2;
}

bool retry::again(machine::attempt_status status, bool (*held)(const void* lock), const void* lock) noexcept {
  const abort_cause why = status.cause();
  const bool was_busy = why == abort_cause::lock_busy;
  switch (why) {
    case abort_cause::capacity:
    case abort_cause::capacity_read:
    case abort_cause::capacity_write:
    case abort_cause::nested:
    case abort_cause::syscall:
    case abort_cause::fault:
    case abort_cause::unfriendly_instruction:
    case abort_cause::explicit_abort:
      return false;
    default:
      break;
  }
  // Found in a section within this one's attempt, it may be another lock, whose end nobody here can wait for.
  const bool may_be_another = was_busy && status.signals(abort_cause::nested);
  if ((!was_busy || may_be_another || rules_.busy_counts) && --left_ == 0) return false;
  if (rules_.waits_for_lock) {
    patient_spin waiting;
    while (held(lock)) waiting.wait(shortest_wait);
  }
  if (!was_busy || may_be_another) back_off();
  return true;
}

}  // namespace txsync::inline TXSYNC_BACKEND::detail

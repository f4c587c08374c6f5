// SPDX-License-Identifier: Apache-2.0
// Early threads run ahead in attempts that never commit (always-abort paper, III-D and Fig. 6). In one point txsync
// differs from the paper. A thread that comes to the next barrier in its attempt does not arrive there. Its arrival
// would conflict with the others' arrivals, and the thread has prefetched what it could.
#include <txsync/machine/assert.hpp>
#include <txsync/machine/attempt.hpp>
#include <txsync/speculate/elision.hpp>
#include <txsync/speculate/warm_barrier.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND {

namespace {

using machine::attempt_status;

/// Whether another attempt would only touch again what this one has touched.
bool has_seen_all(attempt_status status) noexcept {
  if (status.is_explicit()) return status.code() == attempt_status::code_fall_back;
  return status.signals(abort_cause::capacity);
}

}  // namespace

/// True: the caller is in an attempt.
bool warm_barrier::run_ahead(std::uint32_t generation) noexcept {
  if (!machine::htm().always_abort || !has_cpu_for_each()) return false;
  for (std::uint32_t left = tries_; left != 0 && !is_over(generation); --left) {
    TXSYNC_ASSERT(!machine::active(), "the thread is in no attempt when it runs ahead");
    const attempt_status status = machine::warm_begin();
    if (status.started()) {
      // Because of this read, the opening of the barrier aborts the attempt.
      if (is_over(generation)) machine::abort_busy(this);
      return true;
    }
    if (has_seen_all(status)) break;
  }
  return false;
}

bool warm_barrier::arrive_and_wait() noexcept {
  commit_coarsened();
  if (machine::active()) [[unlikely]]
    machine::abort<attempt_status::code_fall_back>();
  const arrival mine = arrive();
  if (mine.last || run_ahead(mine.generation)) return mine.last;
  wait_until_over(mine.generation);
  return false;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND

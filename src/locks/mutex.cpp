// SPDX-License-Identifier: Apache-2.0
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/mutex.hpp>

#include "deferred_wakes.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND {

[[gnu::tls_model("initial-exec")]] constinit thread_local const mutex* detail::newest_held = nullptr;

void mutex::count_sampled() noexcept {
  if (observe::detail::sample(observe::detail::counted_id(get_site()), this)) core_.mark();
}

/// The wait of a thread that has found the lock held. Returns false only when the deadline has passed. The end of a
/// wait lies within the critical section, and all waiters pay for what is done there. So a short wait takes its times
/// from the readings that its pauses make. Only a long wait is shown to observers of the thread.
bool mutex::wait_counted(std::uint64_t deadline) noexcept {
  const std::uint32_t site_id = observe::detail::counted_id(get_site());
  const bool is_told = observe::detail::spin_begins(site_id, this);
  futex_mutex::arrival seen;
  bool got = core_.lock_spinning(seen);
  if (got && !is_told) {
    observe::detail::spun(site_id, seen.end - seen.begin);
    return true;
  }
  if (!got) {
    seen.begin = observe::detail::park_begins(site_id, seen.begin);
    got = core_.lock_after(seen, deadline);
    seen.end = machine::cycles();
  }
  const auto ends = got ? observe::detail::waited : observe::detail::wait_timed_out;
  ends(site_id, this, seen.end - seen.begin);
  return got;
}

void mutex::lock_contended() noexcept {
  (void)wait_counted(machine::no_deadline);
  count();
}

bool mutex::lock_contended(wait_task& task) noexcept {
  const std::uint32_t site_id = observe::detail::counted_id(get_site());
  const std::uint64_t start = observe::detail::wait_begins(site_id, this);
  if (!core_.lock_slow(task)) return false;
  observe::detail::waited(site_id, this, machine::cycles() - start);
  count();
  return true;
}

bool mutex::try_lock_until_ns(std::uint64_t deadline) noexcept {
  if (machine::annotate_unseen_acquire_if(try_lock(), &core_)) return true;
  if (!wait_counted(deadline)) return false;
  count();
  return true;
}

void mutex::unlock_marked() noexcept {
  observe::detail::hold_ends(this);
  core_.unlock_marked();
  detail::wake_deferred_by(this);
}

void mutex::unlock_fair() noexcept {
  detail::newest_held = nullptr;
  observe::detail::hold_ends(this);
  core_.unlock_fair();
  detail::wake_deferred_by(this);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND

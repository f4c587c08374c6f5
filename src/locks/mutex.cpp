// SPDX-License-Identifier: Apache-2.0
#include <txsync/machine/attempt.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/mutex.hpp>

#include "deferred_wakes.hpp"

namespace txsync::inline TXSYNC_BACKEND {

[[gnu::tls_model("initial-exec")]] constinit thread_local const mutex* detail::newest_held = nullptr;

void mutex::count_sampled() noexcept {
  if (observe::detail::sample(observe::detail::counted_id(place()), this)) core_.mark();
}

void mutex::lock_contended() noexcept {
  const std::uint32_t site_id = observe::detail::counted_id(place());
  observe::detail::wait_is_near(site_id, this);
  futex_mutex::arrival seen;
  if (!core_.lock_spinning(seen)) {
    seen.begin = observe::detail::wait_goes_on(site_id, seen.begin);
    core_.lock_after(seen, machine::no_deadline);
    seen.end = machine::cycles();
  }
  observe::detail::waited(site_id, this, seen.end - seen.begin);
  count();
}

bool mutex::lock_contended(pastime& meanwhile) noexcept {
  const std::uint32_t site_id = observe::detail::counted_id(place());
  const std::uint64_t start = observe::detail::wait_begins(site_id, this);
  if (!core_.lock_slow(meanwhile)) return false;
  observe::detail::waited(site_id, this, machine::cycles() - start);
  count();
  return true;
}

bool mutex::try_lock_until_ns(std::uint64_t deadline) noexcept {
  if (machine::annotate_unseen_acquire_if(try_lock(), &core_)) return true;
  const std::uint32_t site_id = observe::detail::counted_id(place());
  const std::uint64_t start = observe::detail::wait_begins(site_id, this);
  if (!core_.lock_slow(deadline)) {
    observe::detail::wait_timed_out(site_id, this, machine::cycles() - start);
    return false;
  }
  observe::detail::waited(site_id, this, machine::cycles() - start);
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

}  // namespace txsync::inline TXSYNC_BACKEND

// SPDX-License-Identifier: Apache-2.0
#include "reporting.hpp"

#include <atomic>

#include <txsync/machine/attempt.hpp>

#include "machine/probes.hpp"
#include "registry.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

namespace {

constinit std::atomic<listener> heard_by{nullptr};
/// The thread is running its listener.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool is_reporting = false;

const char* name_of(std::uint32_t site_id) noexcept {
  return site_id <= site::site_limit ? site_registry::name(site_id) : "";
}

/// Calls the listener, if there is one.
[[gnu::cold, gnu::noinline]] void call(listener called, const event& what) noexcept {
  // An attempt that waits for a lock will abort; then the event comes again outside of the attempt.
  if (called == nullptr || is_reporting || machine::active() || machine::warm_active()) return;
  is_reporting = true;
  called(what);
  is_reporting = false;
}

/// The listener to call, or null.
listener listener_now() noexcept {
  // acquire pairs with the release in set_listener(): makes visible what the listener's owner did before
  return heard_by.load(std::memory_order_acquire);
}

/// The end of a wait lies within the critical section, so all waiters pay for what is done here. So the site's name is
/// looked up, and `deliver` makes the event, only if somebody listens. False: nobody does.
template <class Deliver>
[[gnu::always_inline]] inline bool report(std::uint32_t site_id, bool (*is_probed)() noexcept,
                                          Deliver deliver) noexcept {
  const listener called = listener_now();
  if (called == nullptr && !is_probed()) [[likely]]
    return false;
  deliver(called, name_of(site_id));
  return true;
}

}  // namespace

listener set_listener(listener called) noexcept {
  // release pairs with the acquire in listener_now(), acquire with the release of whoever set the one that is returned
  return heard_by.exchange(called, std::memory_order_acq_rel);
}

bool report_wait_begin(std::uint32_t site_id, const void* lock) noexcept {
  return report(site_id, machine::waits_are_probed, [&](listener called, const char* name) noexcept {
    call(called, {.kind = event_kind::wait_begin, .site_id = site_id, .site_name = name, .lock = lock});
    machine::probe_wait_begin(site_id, name, lock);
  });
}

void report_wait_end(std::uint32_t site_id, const void* lock, std::uint64_t ns, bool acquired) noexcept {
  report(site_id, machine::waits_are_probed, [&](listener called, const char* name) noexcept {
    call(called, {.kind = event_kind::wait_end,
                  .acquired = acquired,
                  .site_id = site_id,
                  .site_name = name,
                  .lock = lock,
                  .wait_ns = ns});
    machine::probe_wait_end(site_id, name, lock, ns, acquired);
  });
}

void report_abort(std::uint32_t site_id, const void* lock, abort_cause why) noexcept {
  report(site_id, machine::attempts_are_probed, [&](listener called, const char* name) noexcept {
    call(called, {.kind = event_kind::abort, .cause = why, .site_id = site_id, .site_name = name, .lock = lock});
    machine::probe_abort(site_id, name, lock, why);
  });
}

void report_fallback(std::uint32_t site_id, const void* lock, abort_cause why) noexcept {
  report(site_id, machine::attempts_are_probed, [&](listener called, const char* name) noexcept {
    call(called, {.kind = event_kind::fallback, .cause = why, .site_id = site_id, .site_name = name, .lock = lock});
    machine::probe_fallback(site_id, name, lock, why);
  });
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe

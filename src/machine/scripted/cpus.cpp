// SPDX-License-Identifier: Apache-2.0
// Time off the CPU, and the invented CPUs.
#include <sched.h>

#include <algorithm>

#include <txsync/machine/thread.hpp>

#include "state.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

using script::count;
using script::the_state;

void yield() noexcept {
  detail::scripted_system_call();
  count(the_state().tally.yields);
  sched_yield();
}

void sleep_ns(std::uint64_t duration) noexcept {
  detail::scripted_system_call();
  count(the_state().tally.sleeps);
  the_state().now.fetch_add(duration, std::memory_order_relaxed);
  sched_yield();
}

unsigned cpu_count() noexcept {
  script::state& all = the_state();
  const std::lock_guard hold(all.guard);
  return static_cast<unsigned>(all.system.cpus.size());
}

bool has_realtime_priority() noexcept {
  detail::scripted_system_call();
  script::state& all = the_state();
  const std::lock_guard hold(all.guard);
  return all.system.realtime;
}

bool pin(unsigned cpu) noexcept {
  detail::scripted_system_call();
  script::state& all = the_state();
  const std::lock_guard hold(all.guard);
  const bool there = std::any_of(all.system.cpus.begin(), all.system.cpus.end(),
                                 [&](const detail::cpu_place& place) { return place.cpu == cpu; });
  if (!there || all.system.refuse_pin) return false;
  all.system.pins.push_back(cpu);
  return true;
}

unsigned cpu_for(placement how, unsigned index, unsigned socket) noexcept {
  script::state& all = the_state();
  const std::lock_guard hold(all.guard);
  const std::vector<unsigned> order = detail::placement_order(all.system.cpus, how, socket);
  return order.empty() ? all.system.cpus.front().cpu : order[index % order.size()];
}

unsigned socket_count() noexcept {
  script::state& all = the_state();
  const std::lock_guard hold(all.guard);
  return detail::sockets_of(all.system.cpus);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

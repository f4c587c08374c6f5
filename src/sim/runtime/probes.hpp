// SPDX-License-Identifier: Apache-2.0
// What an exploration may do to a program besides ordering its steps, all by the schedule's seed. These are faults that
// a machine may have at any moment, and one that it must not have. The latter shows what the subscription to a lock is
// for.
#pragma once

#include "attempts.hpp"
#include "fiber.hpp"
#include "state.hpp"

namespace txsync::sim {

inline bool probes(probe one) noexcept { return (state.probes & static_cast<unsigned>(one)) != 0; }

void set_up_probes() noexcept;
/// Called when the running thread's attempt begins.
void begin_probes(const thread_record& thread) noexcept;

/// What happens at an attempt's access.
struct probed {
  bool ends = false;    ///< it ends the attempt, for `why`
  bool watched = true;  ///< the line comes into the attempt's sets, as it should
  cause why = cause::spurious;
};
probed probe_access(thread_record& thread, line_number line, bool write) noexcept;

/// Whether a weak compare-exchange fails although it need not.
bool exchange_fails() noexcept;
/// Whether a sleep ends before it has begun.
bool wakes_at_once() noexcept;

}  // namespace txsync::sim

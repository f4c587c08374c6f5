// SPDX-License-Identifier: Apache-2.0
// Makes a subject of any barrier that has a constructor from the number of threads, and arrive_and_wait(). Each takes
// one line in a table.
#pragma once

#include "workloads/generators/trisolve.hpp"
#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

/// Name and summary must be string literals, because only their addresses are kept.
template <class Barrier>
constexpr subject make_barrier_subject(const char* name, bool peer, const char* summary) noexcept {
  subject made{.name = name, .peer = peer, .how = waiting::parks, .is_barrier = true, .summary = summary};
  made.run[static_cast<unsigned>(workload_id::trisolve)] = run_trisolve<Barrier>;
  return made;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

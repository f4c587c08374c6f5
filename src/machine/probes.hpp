// SPDX-License-Identifier: Apache-2.0
// Places at which tools outside the process look in (perf, bpftrace, SystemTap): USDT probes of the provider "txsync",
// on the native machine where <sys/sdt.h> was there when it was built. Elsewhere nothing.
#pragma once

#include <cstdint>

#include <txsync/machine/abort_cause.hpp>

namespace txsync::inline TXSYNC_BACKEND::machine {

/// Whether a tool may be at a probe: each that attaches counts itself up at the probe's semaphore, as <sys/sdt.h> has
/// it. To be asked before what a probe is given is looked up. Cost: a call and a load.
bool waits_are_probed() noexcept;
bool attempts_are_probed() noexcept;

// Arguments of the probes: those of the functions, in their order; a cause as its number and as its word. Cost with a
// tool: a trap, about a microsecond, which aborts an attempt.
void probe_wait_begin(std::uint32_t site_id, const char* site_name, const void* lock) noexcept;
void probe_wait_end(std::uint32_t site_id, const char* site_name, const void* lock, std::uint64_t ns,
                    bool acquired) noexcept;
void probe_abort(std::uint32_t site_id, const char* site_name, const void* lock, abort_cause why) noexcept;
void probe_fallback(std::uint32_t site_id, const char* site_name, const void* lock, abort_cause why) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::machine

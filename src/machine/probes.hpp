// SPDX-License-Identifier: Apache-2.0
// Probes for tools outside the process (perf, bpftrace, SystemTap): USDT probes of the provider "txsync". They exist on
// the native machine if <sys/sdt.h> was there at build time. Elsewhere they do nothing.
#pragma once

#include <cstdint>

#include <txsync/machine/abort_cause.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

/// Whether a tool may be attached to a probe. Each tool increments the probe's semaphore when it attaches, as
/// <sys/sdt.h> defines it. Ask before looking up the probe's arguments. Cost: a call and a load.
bool waits_are_probed() noexcept;
bool attempts_are_probed() noexcept;

// The probes have the arguments of these functions, in their order; a cause is given as its number and its word. Cost
// with a tool: a trap, about a microsecond, which aborts an attempt.
void probe_wait_begin(std::uint32_t site_id, const char* site_name, const void* lock) noexcept;
void probe_wait_end(std::uint32_t site_id, const char* site_name, const void* lock, std::uint64_t ns,
                    bool acquired) noexcept;
void probe_abort(std::uint32_t site_id, const char* site_name, const void* lock, abort_cause why) noexcept;
void probe_fallback(std::uint32_t site_id, const char* site_name, const void* lock, abort_cause why) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

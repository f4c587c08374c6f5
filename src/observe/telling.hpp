// SPDX-License-Identifier: Apache-2.0
// Tells tools what happens at a site: the probes of the machine, and the program's listener (events.hpp). For paths in
// which a thread has waited, or an attempt has aborted.
#pragma once

#include <cstdint>

#include <txsync/observe/events.hpp>

namespace txsync::inline TXSYNC_BACKEND::observe {

// `site_id` as counted_id() has it. Cost without tools: two calls and two loads each.
/// False: there is nobody to tell.
bool tell_wait_begin(std::uint32_t site_id, const void* lock) noexcept;
void tell_wait_end(std::uint32_t site_id, const void* lock, std::uint64_t ns, bool acquired) noexcept;
/// Outside the attempt.
void tell_abort(std::uint32_t site_id, const void* lock, abort_cause why) noexcept;
void tell_fallback(std::uint32_t site_id, const void* lock, abort_cause why) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::observe

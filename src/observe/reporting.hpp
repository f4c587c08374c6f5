// SPDX-License-Identifier: Apache-2.0
// Reports to tools what happens at a site: the probes of the machine, and the program's listener (events.hpp). For code
// paths on which a thread has waited, or an attempt has aborted.
#pragma once

#include <cstdint>

#include <txsync/observe/events.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

// `site_id` is the result of counted_id(). Cost without tools: two calls and two loads each.
/// False: nobody listens.
bool report_wait_begin(std::uint32_t site_id, const void* lock) noexcept;
void report_wait_end(std::uint32_t site_id, const void* lock, std::uint64_t ns, bool acquired) noexcept;
/// Called outside the attempt.
void report_abort(std::uint32_t site_id, const void* lock, abort_cause why) noexcept;
void report_fallback(std::uint32_t site_id, const void* lock, abort_cause why) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe

// SPDX-License-Identifier: Apache-2.0
// The probes of the scripted and the virtual machine, which have none.
#include "probes.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

bool waits_are_probed() noexcept { return false; }
bool attempts_are_probed() noexcept { return false; }
void probe_wait_begin(std::uint32_t, const char*, const void*) noexcept {}
void probe_wait_end(std::uint32_t, const char*, const void*, std::uint64_t, bool) noexcept {}
void probe_abort(std::uint32_t, const char*, const void*, abort_cause) noexcept {}
void probe_fallback(std::uint32_t, const char*, const void*, abort_cause) noexcept {}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

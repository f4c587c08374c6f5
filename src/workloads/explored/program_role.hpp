// SPDX-License-Identifier: Apache-2.0
// The role of a program's pthread locks, as the preloaded library would make it for their site.
#pragma once

#include <cstdint>
#include <new>

#include "preload/roles.hpp"

namespace txsync::inline TXSYNC_BACKEND::workloads {

/// Makes it anew, with the eager presets: nothing may be learnt from one schedule to the next.
template <std::uint32_t site>
void make_program_role(const preload::role_choices& what) noexcept {
  using role = preload::lock_role;
  alignas(role) static unsigned char place[sizeof(role)];
  preload::roles[site].store(new (place) role{elision(elision_presets::eager), warm_up(warm_up_presets::eager),
                                              what.under, what.elides, what.warms});
}

}  // namespace txsync::inline TXSYNC_BACKEND::workloads

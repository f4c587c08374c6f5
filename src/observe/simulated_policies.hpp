// SPDX-License-Identifier: Apache-2.0
// How a simulated program learns what its named sites do: by an environment variable that contains numbers. So it needs
// neither files nor the words of policies. src/policy/simulated.cpp writes the variable.
#pragma once

#include "sim/protocol.hpp"

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::observe {

/// Entries "WORD SAID LENGTH NAME", with nothing between them. WORD and SAID are those of partial_policy, in hexadecimal
/// digits; LENGTH is the number of bytes of NAME. The first entry has an empty name: it applies to sites without an
/// entry. Nothing is inherited: each entry says everything that is set for its site.
inline constexpr const char* simulated_policies_variable = sim::option::sites;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::observe

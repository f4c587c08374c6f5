// SPDX-License-Identifier: Apache-2.0
// How a simulated program is told what its named sites do: by an environment variable, as numbers, so that it needs
// neither files nor the words of policies. src/policy/simulated.cpp writes it.
#pragma once

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::observe {

/// Entries "WORD SAID LENGTH NAME", one behind the other without anything between them. WORD and SAID are those of
/// said_policy, in hexadecimal digits, LENGTH is the bytes of NAME. The first has an empty name: what is said of a site
/// that has no entry. Nothing is inherited: each entry is all that is said of its site.
inline constexpr const char* told_policies_variable = "TXSYNC_SIM_SITES";

}  // namespace txsync::inline TXSYNC_BACKEND::observe

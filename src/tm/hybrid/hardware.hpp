// SPDX-License-Identifier: Apache-2.0
// Attempts of the machine, beside transactions that run alone.
#pragma once

#include <txsync/tm/atomically.hpp>

#include "tm/runner.hpp"

namespace txsync::inline TXSYNC_BACKEND::tm::detail {

/// True: the block has committed in an attempt. False: none did, or the machine makes none.
bool run_in_hardware(runner& me, const erased_body& body, void* data);
/// In an attempt, aborts it so that it goes on in software. Else no effect.
void leave_hardware(const runner& me) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::tm::detail

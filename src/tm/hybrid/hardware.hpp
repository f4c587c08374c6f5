// SPDX-License-Identifier: Apache-2.0
// Hardware attempts of blocks, beside serial transactions.
#pragma once

#include <txsync/tm/atomically.hpp>

#include "tm/runner.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

/// True: the block has committed in an attempt of that algorithm. False: no attempt did, or the machine makes none.
bool run_in_hardware(runner& me, const algorithm& how, const erased_body& body, void* data);
/// In an attempt: aborts it, so that the block goes on in software. Otherwise no effect.
void leave_hardware(const runner& me) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail

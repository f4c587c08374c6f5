// SPDX-License-Identifier: Apache-2.0
// What threads note while a schedule runs (txsync_sim_note()).
#pragma once

namespace txsync::sim {

/// The next schedule begins without notes.
void forget_notes() noexcept;

}  // namespace txsync::sim

// SPDX-License-Identifier: Apache-2.0
// What there is to simulate, in the form of documents.
#pragma once

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {

/// The tests that schedules are tried on; none if this txsync has no simulated machine.
observe::json test_items();
/// The machines, with each number and its source. Throws bad_input.
observe::json machine_items();
/// The experiments of the lab.
observe::json experiment_items();

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate

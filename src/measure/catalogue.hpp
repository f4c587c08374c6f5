// SPDX-License-Identifier: Apache-2.0
// What there is on this machine, in the form of documents.
#pragma once

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::measure {

/// The workloads, with their parameters and presets.
observe::json workload_items();
/// What workloads run on, other than algorithms.
observe::json lock_items();
/// The algorithms of atomic blocks.
observe::json algorithm_items();
/// The policies that have names.
observe::json policy_items();
/// The presets of policies.
observe::json preset_items();

}  // namespace txsync::TXSYNC_INLINE_BACKEND::measure

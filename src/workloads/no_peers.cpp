// SPDX-License-Identifier: Apache-2.0
// Machines that are not native have no locks but ours.
#include "workloads/subjects.hpp"

namespace txsync::inline TXSYNC_BACKEND::workloads {

std::span<const subject> peer_subjects() noexcept { return {}; }

}  // namespace txsync::inline TXSYNC_BACKEND::workloads

// SPDX-License-Identifier: Apache-2.0
// The locks of other libraries, as subjects of the workloads. Each group is empty where its library is not installed.
#pragma once

#include <span>
#include <vector>

#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

std::span<const workloads::subject> tbb_subjects() noexcept;
std::span<const workloads::subject> absl_subjects() noexcept;
std::span<const workloads::subject> ck_subjects() noexcept;
/// Algorithms of libraries in other languages, written here as models.
std::span<const workloads::subject> model_subjects() noexcept;
/// GCC's transactional memory, for the workload `transactions`.
std::span<const workloads::subject> itm_subjects() noexcept;

/// The peers that a sceptic would take, with the prefetch that warm-up does before each lock().
std::span<const workloads::subject> tbb_ahead_subjects() noexcept;
std::span<const workloads::subject> absl_ahead_subjects() noexcept;
std::span<const workloads::subject> ck_ahead_subjects() noexcept;
std::span<const workloads::subject> system_ahead_subjects() noexcept;
std::vector<workloads::subject> all_ahead_subjects();

/// Those of src/workloads (ours, pthread's, the standard library's) and all installed peers.
std::vector<workloads::subject> all_subjects();

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

// SPDX-License-Identifier: Apache-2.0
// Machines that are not native have only our locks, and no files.
#include "workloads/generators/sparse_matrix.hpp"
#include "workloads/subjects/subjects.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

std::span<const subject> peer_subjects() noexcept { return {}; }
const sparse_matrix* matrix_of_file(std::uint64_t) noexcept { return nullptr; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

// SPDX-License-Identifier: Apache-2.0
// Groups of subjects. Each table has its own source file, which limits the compile time of each.
#pragma once

#include <span>

#include "workloads/harness/workload.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

std::span<const subject> parking_subjects() noexcept;      ///< parking.cpp
std::span<const subject> spinning_subjects() noexcept;     ///< spinning.cpp
std::span<const subject> shared_subjects() noexcept;       ///< shared.cpp
std::span<const subject> shore_subjects() noexcept;        ///< as_shore_mt.cpp
std::span<const subject> eliding_subjects() noexcept;      ///< eliding.cpp
std::span<const subject> warming_subjects() noexcept;      ///< warming.cpp
std::span<const subject> thesis_subjects() noexcept;       ///< as_the_thesis.cpp
std::span<const subject> transaction_subjects() noexcept;  ///< subjects/transactions.cpp
std::span<const subject> barrier_subjects() noexcept;      ///< barriers.cpp
std::span<const subject> peer_subjects() noexcept;         ///< peers.cpp on native machines, else no_peers.cpp

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

// SPDX-License-Identifier: Apache-2.0
// The algorithms that run atomic blocks, by name.
#pragma once

#include <span>
#include <string_view>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::tm {

/// An algorithm of the library; docs/tm has a page on each.
struct algorithm_name {
  const char* name;
  const char* summary;
};

/// All of them, the default first.
TXSYNC_EXPORT std::span<const algorithm_name> algorithms() noexcept;

/// From now on, all blocks of the process run by the algorithm of that name. Waits until none is running, so it can be
/// called at any time outside of blocks. False if there is no such name, or if the system refuses what a dmp algorithm
/// needs (tm/heap.hpp); then nothing has changed.
/// At the start of the program it is "auto", or the value of the environment variable TXSYNC_TM.
TXSYNC_EXPORT bool use_algorithm(std::string_view name) noexcept;

/// The name of the algorithm in use.
TXSYNC_EXPORT const char* algorithm_in_use() noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm

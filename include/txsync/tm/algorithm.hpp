// SPDX-License-Identifier: Apache-2.0
// The algorithms by which transactions run, by name.
#pragma once

#include <span>
#include <string_view>

#include <txsync/export.hpp>
#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::tm {

/// One of the algorithms of the library; docs/tm has a page on each.
struct algorithm_name {
  const char* name;
  const char* summary;
};

/// All of them, the default first.
TXSYNC_EXPORT std::span<const algorithm_name> algorithms() noexcept;

/// All transactions of the process run by the algorithm of that name from now on. Waits until none is running, so it
/// can be called at any time outside of blocks. False, and nothing has changed, where there is no such name.
/// At the start it is "dctl", or what the environment says in TXSYNC_TM.
TXSYNC_EXPORT bool use_algorithm(std::string_view name) noexcept;

/// The name of the one in use.
TXSYNC_EXPORT const char* algorithm_in_use() noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::tm

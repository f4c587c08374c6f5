// SPDX-License-Identifier: Apache-2.0
// Blocks of counters as in a file on a disk that a test fills.
#pragma once

#include <cstddef>
#include <cstdlib>

#include "observe/blocks.hpp"

inline bool disk_is_full = false;

inline constexpr txsync::observe::block_source blocks_of_disk = {
    [](std::size_t) noexcept -> txsync::observe::block_source::taken {
      return {std::calloc(1, txsync::observe::block_bytes()), 0};
    },
    nullptr, [](void*, std::size_t) noexcept { return !disk_is_full; }};

// SPDX-License-Identifier: Apache-2.0
// This process' view of the launcher's file, for the two libraries that count in it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "channel/channel.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::channel {

/// The launcher's file, or null. The first call opens the file that TXSYNC_CHANNEL names, if any. From then on this
/// library of the process counts in it. Thread-safe: constructors of other libraries take locks before this library's
/// constructor has run. Allocates nothing, and takes no lock.
head* open_file() noexcept;

/// The bytes of the launcher's file from `begin` to `end`, mapped anew; null if that fails. Requires: open_file() is
/// not null.
void* map_part(std::uint64_t begin, std::uint64_t end) noexcept;

/// Allocates the pages of such bytes now: on a full disk a store to a missing page ends the program. False if there is
/// no room.
bool reserve(void* begin, std::size_t bytes) noexcept;

// ---- What differs between the libraries: each defines its own.

/// Which library this is.
extern const counting_library this_library;
/// The file has just been opened, and nothing is counted in it yet.
void begin_in(head& file) noexcept;
/// What the library does if the file exists and cannot be opened: "its locks ...".
extern const char* const without_file;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::channel

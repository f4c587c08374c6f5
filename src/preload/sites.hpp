// SPDX-License-Identifier: Apache-2.0
// Which site a lock belongs to, and what its policy is: asked of the launcher once for each chain of calls.
#pragma once

#include <cstdint>

#include "channel.hpp"
#include "policy/packed.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

/// A site as the locks carry it, in 12 bits; 0 is "not counted".
inline constexpr std::uint32_t most_sites = 4095;

struct site_answer {
  std::uint32_t site = 0;
  policy::packed policy;
};

/// The site of a lock that the calling function's caller makes or first takes. Without a launcher: site 0 and the
/// built-in policy. Cost: 3 us; the first time for a chain of calls a question to the launcher, 0.1 ms and more.
site_answer site_of_caller(object_kind kind) noexcept;

/// Where no launcher says anything.
policy::packed default_policy() noexcept;

/// Tells the launcher (else the standard error) of something that the program did. Each place and kind is told once.
void tell(notice_kind kind, std::uint32_t site, std::uint32_t other_site = 0) noexcept;

/// To the standard error, where there is no launcher.
void say(const char* text, std::size_t length) noexcept;

/// Opens the file of TXSYNC_CHANNEL, if there is one, and counts in it from now on. Requires: the process has one
/// thread or has not locked anything.
void open_channel() noexcept;
/// The launcher's file, or null.
channel* open_file() noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::preload

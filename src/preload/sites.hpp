// SPDX-License-Identifier: Apache-2.0
// Which site a lock belongs to, and what its policy is: asked of the launcher once for each place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "channel.hpp"
#include "policy/packed.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

struct site_answer {
  std::uint32_t site = 0;
  policy::packed policy;
};

/// The site of the lock `object`, which the calling function's caller makes or first takes: by the object where that is
/// in static storage, else by the calls. Without a launcher: site 0 and the built-in policy. Cost: some 20 ns for a
/// place that is known, 1 to 3 us where the calls have to be unwound, and for a new place a question to the launcher,
/// 0.1 ms and more.
site_answer find_site(object_kind kind, const void* object) noexcept;

/// Where no launcher says anything. If there is one whose file cannot be opened: its default, which is in the
/// environment.
policy::packed default_policy() noexcept;
/// Where locks are counted in a program that no launcher watches; 0: they are not.
std::uint32_t site_without_channel() noexcept;

/// Tells the launcher (else the standard error) of something that the program did. Each place and kind is told once.
void tell(notice_kind kind, std::uint32_t site, std::uint32_t other_site = 0) noexcept;

/// To the standard error, where there is no launcher.
void say(const char* text, std::size_t length) noexcept;

/// The launcher's file, or null. The first call opens that of TXSYNC_CHANNEL, if there is one; from then on the process
/// counts in it. Thread-safe: constructors of libraries take locks before that of this library has run.
channel* open_file() noexcept;
/// The bytes of the launcher's file from `begin` to `end`, mapped anew; null where that fails. Requires: open_file() is
/// not null.
void* map_part(std::uint64_t begin, std::uint64_t end) noexcept;
/// Has the pages of such bytes made now: on a full disk a store to a page that is not there ends the program. False
/// where there is no room.
bool reserve(void* begin, std::size_t bytes) noexcept;
/// This process, as the launcher numbers it; 0: it has no number for it. A few microseconds.
std::uint32_t launchers_number(const channel& file) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::preload

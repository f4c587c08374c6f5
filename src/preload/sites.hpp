// SPDX-License-Identifier: Apache-2.0
// Which site a lock belongs to, and what its policy is: asked of the launcher once for each place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "channel/channel.hpp"
#include "channel/file.hpp"
#include "channel/processes.hpp"
#include "policy/packed.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

using channel::frame;
using channel::launchers_number;
using channel::most_sites;
using channel::notice;
using channel::notice_kind;
using channel::object_kind;
using channel::object_places;
using channel::open_file;
using channel::place;

struct site_answer {
  std::uint32_t site = 0;
  policy::packed policy;
  /// The return address of the innermost call, where that alone decides for objects in no static storage; else 0.
  std::uintptr_t call = 0;
  bool is_for_all = false;  ///< the answer is the same for all locks
};

/// The site of the lock `object`, which the calling function's caller makes or first takes: by the object where that is
/// in static storage, else by the calls. Without a launcher: site 0 and the built-in policy. Where one policy is for
/// all sites and needs none of them (needs_site()): site 0 and that policy. Cost: some 20 ns for a place that is known,
/// 1 to 3 us where the calls have to be unwound, and for a new place a question to the launcher, 0.1 ms and more.
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

}  // namespace txsync::inline TXSYNC_BACKEND::preload

// SPDX-License-Identifier: Apache-2.0
// Which site a lock belongs to, and what its policy is. The launcher is asked once for each place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "channel/channel.hpp"
#include "channel/file.hpp"
#include "channel/processes.hpp"
#include "policy/packed.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

using channel::diagnostic;
using channel::diagnostic_kind;
using channel::frame;
using channel::frame_list;
using channel::launchers_number;
using channel::max_sites;
using channel::object_kind;
using channel::object_offsets;
using channel::open_file;

struct site_answer {
  std::uint32_t site = 0;
  policy::packed policy;
  /// The return address of the innermost call, if that alone decides for objects outside static storage; else 0.
  std::uintptr_t call = 0;
  bool is_for_all = false;  ///< the answer is the same for all locks
};

/// The site of the lock `object`, which the calling function's caller makes or takes first. An object in static storage
/// decides it; otherwise the calls do. Without a launcher: site 0 and the built-in policy. If one policy is for all
/// sites and does not need them (needs_site()): site 0 and that policy. Cost: some 20 ns for a known place, 1 to 3 us
/// if the calls have to be unwound. A new place costs a request to the launcher, 0.1 ms and more.
site_answer find_site(object_kind kind, const void* object) noexcept;

/// The policy of the site with that number, which another process may have asked for. The default, if the launcher has
/// not said it, or its file cannot be opened.
policy::packed policy_of_site(std::uint32_t number) noexcept;

/// The policy without an answer of the launcher. If there is a launcher whose file cannot be opened: its default, which
/// is in the environment.
policy::packed default_policy() noexcept;
/// The site that counts locks in a program without a launcher; 0: they are not counted.
std::uint32_t site_without_channel() noexcept;

/// Reports something that the program did to the launcher (else on standard error). Each place and kind once.
void report(diagnostic_kind kind, std::uint32_t site, std::uint32_t other_site = 0) noexcept;

/// Writes to standard error if there is no launcher.
void log(const char* text, std::size_t length) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

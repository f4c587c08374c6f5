// SPDX-License-Identifier: Apache-2.0
// Counts instructions by single-stepping a child process.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "instructions/paths.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// This machine or system does not let a process single-step its child.
struct no_single_steps : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The instructions of each of `pairs` runs of the path's lock and unlock, the write of `*counts` behind it included.
/// A system call counts as one. Attempts abort when they are single-stepped: ask for paths without (TXSYNC_HTM=off).
/// The child is this program by the words of `command`, to which it adds "--path NAME --pairs N --counts DESCRIPTOR". It
/// has to call be_stepped(). Throws no_single_steps; std::runtime_error if the path does not end. A loop of load-linked
/// and store-conditional does not end if every step cancels the reservation (AArch64 without LSE).
std::vector<std::uint64_t> count_instructions(const uncontended_path& path, unsigned pairs,
                                              std::vector<std::string> command);

/// What that child does.
void be_stepped(const uncontended_path& path, unsigned pairs, int counts_file);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

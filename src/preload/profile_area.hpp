// SPDX-License-Identifier: Apache-2.0
// The parts of the launcher's file for single waits and holds: call chains of the costliest ones, and events in the
// order of time. They lie after the blocks (channel::head::chains and events), and exist only if the launcher asks for
// them. All zero is valid.
#pragma once

#include <atomic>
#include <cstdint>

#include "channel/channel.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

using channel::frame;

/// A file that contains code of call chains.
struct loaded_file {
  std::atomic<std::uint64_t> hash{0};  // of the path; the thread that puts it there writes the rest
  char path[sizeof(frame::module)] = {};
};

enum class chain_kind : std::uint32_t {
  waits = 1,  ///< of a thread that waited for a lock: the call that gave the lock up afterwards
  holds,      ///< of a thread that held a lock while others waited: the call that gave it up
};

/// What a lock call is, for the readers of chains.
enum class lock_call : std::uint32_t { mutex = 1, read, write, spin };

/// A call chain, and what it stands for.
struct chain_record {
  static constexpr unsigned max_frames = 48;
  static constexpr std::uint32_t no_file = ~std::uint32_t{0};
  std::atomic<std::uint32_t> is_written{0};  // release by its writer, after everything constant
  chain_kind kind{};
  lock_call call{};
  std::uint32_t site = 0;
  std::uint32_t process = 0;  // as site_request::process
  std::uint32_t count = 0;
  std::atomic<std::uint64_t> waits{0};  // relaxed, both: counts
  std::atomic<std::uint64_t> wait_ns{0};
  std::uint64_t offsets[max_frames] = {};  ///< the innermost call first: as frame::offset
  std::uint32_t files[max_frames] = {};    ///< indices of chain_area::files
};

struct chain_area {
  static constexpr unsigned max_chains = 2048;
  static constexpr unsigned max_files = 256;
  static constexpr unsigned max_search_steps = 64;
  /// The key of chain i; 0: free. By open addressing.
  std::atomic<std::uint64_t> keys[max_chains] = {};
  std::atomic<std::uint64_t> left_out{0};  // chains for which there was no room
  loaded_file files[max_files] = {};
  chain_record records[max_chains] = {};
};

enum class event_kind : std::uint32_t { wait = 1, failed_wait, hold };

/// A wait for a lock, or the time that one was held.
struct profile_event {
  std::atomic<std::uint32_t> kind{0};  // event_kind; written last, release. 0: being written
  std::uint32_t site = 0;
  std::uint32_t process = 0;  // getpid() and gettid() of the thread, in its namespace
  std::uint32_t thread = 0;
  std::uint64_t object = 0;  // the lock's address
  std::uint64_t since = 0;   // machine::cycles()
  std::uint64_t cycles = 0;
};

struct event_area {
  static constexpr std::uint64_t max_events = 100'000;
  std::atomic<std::uint64_t> given{0};  // may exceed max_events: events beyond it are left out
  profile_event events[max_events] = {};
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

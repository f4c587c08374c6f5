// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "channel/channel.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

using channel::frame;
using channel::frame_list;

/// Return addresses, the innermost first, without those in this library.
struct call_chain {
  std::uint32_t count = 0;
  std::uintptr_t addresses[frame_list::max_frames];

  /// Distinguishes chains within one process; never 0.
  std::uint64_t hash() const noexcept;
};

/// The chain of the calling thread. Uses no lock and no heap memory. About 0.3 us a frame.
call_chain chain_of_caller() noexcept;

/// The same for up to `most` addresses. Returns how many there are.
std::uint32_t unwind_caller(std::uintptr_t* addresses, std::uint32_t most) noexcept;

/// Describes one address.
void describe(std::uintptr_t address, frame& out) noexcept;

/// The same relative to the modules, as it is sent to the launcher.
void describe(const call_chain& chain, frame_list& out) noexcept;

/// Where an object lies in the static storage of a loaded file.
struct static_location {
  const char* path = nullptr;  ///< that the linker gives the file: empty for the program; null: in no file
  std::uint64_t offset = 0;

  /// Distinguishes files by their paths: another file may be loaded where the first one was.
  std::uint64_t file_hash() const noexcept;
};
static_location find_static(const void* object) noexcept;
void describe(const static_location& object, frame_list& out) noexcept;

/// Goes up the stack of the calling thread by the frame sizes that chain_of_caller() saw before. It never passes a
/// frame that was seen with two sizes, and each step has to reach a known return address. So the addresses are those of
/// the call chain. There is one exception: a frame of variable size may hold such an address of an earlier call at that
/// very place.
class quick_walk {
 public:
  /// `frame`: __builtin_frame_address(0) of the caller.
  explicit quick_walk(const void* frame) noexcept;
  /// The next return address outside this library; 0: the walk cannot go on.
  std::uintptr_t next() noexcept;

 private:
  [[maybe_unused]] const std::uintptr_t* at_ = nullptr;  // the return address to read next
};

/// True only for objects on the calling thread's stack. False is no statement.
bool is_on_stack(const void* object) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

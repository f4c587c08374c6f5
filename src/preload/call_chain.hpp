// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "channel/channel.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

using channel::frame;
using channel::place;

/// Return addresses, the innermost first, without those of this library.
struct call_chain {
  std::uint32_t count = 0;
  std::uintptr_t addresses[place::most];

  /// Tells chains apart within one process; never 0.
  std::uint64_t hash() const noexcept;
};

/// Of the calling thread. Uses no lock and no memory of the heap. About 0.3 us a frame.
call_chain chain_of_caller() noexcept;

/// The same of up to `most` addresses; answers how many there are.
std::uint32_t unwind_caller(std::uintptr_t* addresses, std::uint32_t most) noexcept;

/// The place of one address.
void describe(std::uintptr_t address, frame& out) noexcept;

/// The same relative to the modules, as it crosses to the launcher.
void describe(const call_chain& chain, place& out) noexcept;

/// Where an object lies in the static storage of a loaded file.
struct static_place {
  const char* path = nullptr;  ///< of the file, as the linker has it: empty for the program; null: in no file
  std::uint64_t offset = 0;

  /// Tells files apart, by their paths: another one may be loaded where the first one was.
  std::uint64_t file_hash() const noexcept;
};
static_place find_static(const void* object) noexcept;
void describe(const static_place& object, place& out) noexcept;

/// Goes up the stack of the calling thread by the sizes of frames that chain_of_caller() met before. A frame that was
/// met with two sizes is never passed, and each step has to come to a return address that was met before. So the
/// addresses are those of the call chain, unless a frame of variable size happens to hold such an address of an earlier
/// call at the very place.
class quick_walk {
 public:
  /// `frame`: __builtin_frame_address(0) of the caller.
  explicit quick_walk(const void* frame) noexcept;
  /// The next return address outside of this library; 0: the way is not known.
  std::uintptr_t next() noexcept;

 private:
  [[maybe_unused]] const std::uintptr_t* at_ = nullptr;  // the return address to read next
};

/// True only for objects on the calling thread's stack; false says nothing.
bool is_on_stack(const void* object) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::preload

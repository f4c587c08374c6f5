// SPDX-License-Identifier: Apache-2.0
// Who waited for locks and who held them, by call chains and in the order of time. It is what the parts of the channel
// in preload/profile_area.hpp hold, with names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "preload/profile_area.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

/// A call of a chain.
struct named_call {
  std::string name;  ///< of the function, or "libkyotocabinet.so.16+0x3fe20" if no symbol covers it
  std::string file;  ///< as the compiler had it; empty without debug information
  unsigned line = 0;
  std::string module;         ///< the file with the code; empty for lock calls and if unknown
  std::uint64_t address = 0;  ///< after the call, as an address in that file
  bool is_inlined = false;    ///< into the call before it, whose address is the same
};

/// The waiting that one chain of calls stands for.
struct blame {
  std::vector<named_call> calls;  ///< the outermost first; the last one is the lock call
  std::string site;
  std::uint64_t waits = 0;
  std::uint64_t wait_ns = 0;
  bool is_rest = false;  ///< the site's other waits, for which no chain was taken
};

/// How many events of a run are kept, the first ones.
inline constexpr std::uint64_t max_events = preload::event_area::max_events;

/// A wait for a lock of a site, or the time that such a lock was held.
struct lock_event {
  enum class kind : std::uint8_t { wait, failed_wait, hold };
  kind what = kind::wait;
  std::string site;
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
  std::uint64_t object = 0;    ///< the lock's address
  std::uint64_t start_ns = 0;  ///< since the start of the run
  std::uint64_t ns = 0;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch

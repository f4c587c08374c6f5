// SPDX-License-Identifier: Apache-2.0
// Calls of a thread out of a copy of its stack, by elfutils and the unwind tables of the process' files.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "attach/loaded_files.hpp"
#include "attach/thread_state.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::attach {

struct code_frame {
  std::uint64_t code = 0;
  bool is_call = true;  ///< `code` is the address behind a call; false: the next instruction
};

struct call_chain {
  std::vector<code_frame> frames;  ///< the innermost first
  bool complete = false;           ///< false: the caller of the last one could not be found
};

/// For one state of the process' mappings. Opening the files' tables takes some ms once, a chain some 10 us.
class unwinder {
 public:
  /// Requires: `map` lives longer.
  unwinder(const target& of, const memory_map& map);
  ~unwinder();
  unwinder(const unwinder&) = delete;
  unwinder& operator=(const unwinder&) = delete;

  call_chain unwind(const thread_state& state);

 private:
  struct session;
  std::unique_ptr<session> session_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::attach

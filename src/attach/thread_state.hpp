// SPDX-License-Identifier: Apache-2.0
// Copies of the registers and the stack of a thread of another process, from which its calls can be unwound later.
//
// A thread that is blocked is not stopped: /proc has its stack pointer, and its stack does not change until it wakes.
// A thread that runs is stopped for the copy alone. So is one whose other registers are needed, if its system call goes
// on after that: some calls would fail with EINTR, and those threads are never stopped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "attach/loaded_files.hpp"
#include "attach/target.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::attach {

/// Of a stack so much is copied, from the innermost frame on.
inline constexpr std::size_t max_stack_bytes = std::size_t{128} * 1024;

struct thread_state {
  std::uint64_t code = 0;                                     ///< the program counter
  std::vector<std::pair<unsigned, std::uint64_t>> registers;  ///< those that are known, by their DWARF number
  std::uint64_t stack = 0;                                    ///< where the copy begins
  std::vector<unsigned char> bytes;                           ///< the copy
};

/// Requires: the thread is blocked at `call`. The copy is good if it still is afterwards.
thread_state copy_blocked(const target& of, const memory_map& map, const blocked_call& call);

/// Whether a thread that is stopped in the call for a moment stays in it. Found by trying, on Linux 6.18:
/// epoll_wait(), sigtimedwait(), semtimedop(), and reading from a socket with a time limit fail with EINTR.
bool goes_on_after_stop(const blocked_call& call) noexcept;

struct stopped_thread {
  bool copied = false;
  int error = 0;              ///< errno of what failed; 0 when the thread did not stop in time
  std::uint64_t copy_ns = 0;  ///< from seeing that it had stopped to letting it go: it was stopped for at least so long
  std::uint64_t stop_ns = 0;  ///< from the request to letting it go: it was stopped for at most so long
  thread_state state;
};

/// Stops each of the threads in turn, copies, and lets it go. Between are two system calls that copy registers and
/// stack, and nothing else. One that does not stop within 200 ms, since its turn does not come, is let go. If this
/// process dies meanwhile, the kernel lets the thread go.
std::vector<stopped_thread> copy_stopping(const target& of, const memory_map& map, const std::vector<int>& threads);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::attach

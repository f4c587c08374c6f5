// SPDX-License-Identifier: Apache-2.0
// A running process that was not started for txsync: whether it may be looked at, and its threads as /proc has them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::attach {

/// The process cannot be looked at. One line that says why and what to do.
struct refused : std::runtime_error {
  refused(bool denied, const std::string& what) : std::runtime_error(what), by_system(denied) {}
  bool by_system;  ///< the system denies it; false: there is no such program
};

struct target {
  int process = 0;
  int inner_process = 0;       ///< its number in its own PID namespace
  bool other_numbers = false;  ///< that namespace is not ours
  std::uint32_t user = 0;
  std::string name;     ///< of its first thread; may hold anything
  std::string program;  ///< path of the program's file; may hold anything
  std::string root;     ///< before paths of its files: empty, or where /proc shows another root folder
};

/// Throws refused: no such process, a thread's number, ended, 32-bit, a kernel thread, or denied by the system.
target open_target(int process);

bool is_alive(const target& of);

/// A system call that a thread is blocked in; `number` is -1 when the thread is blocked outside one.
struct blocked_call {
  long number = -1;
  std::array<std::uint64_t, 6> arguments{};
  std::uint64_t stack = 0;
  std::uint64_t code = 0;
  bool operator==(const blocked_call&) const = default;
};

struct task {
  int id = 0;
  int inner_id = 0;                  ///< in the PID namespace of the process, as its C library knows it
  char state = '?';                  ///< as /proc has it: R, S, D, T, t, ...
  std::string name;                  ///< may hold anything
  std::optional<blocked_call> call;  ///< empty: it ran
};

/// The threads now. Those that end meanwhile are left out.
std::vector<task> tasks_of(const target& of);

/// Where the thread is blocked now; empty when it runs or has ended.
std::optional<blocked_call> blocked_call_of(int process, int thread);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::attach

// SPDX-License-Identifier: Apache-2.0
// Who waits for whom in a running process, at one moment: the threads that sleep at futexes by the object that they
// wait for, its owner, and the calls of both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attach/code_names.hpp"
#include "attach/futex_wait.hpp"
#include "attach/target.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::attach {

struct seen_thread {
  int id = 0;
  std::string name;                ///< printable
  std::vector<named_frame> calls;  ///< the innermost first; empty where they could not be had
  bool complete = false;           ///< `calls` go down to the thread's start
};

enum class owner_state : std::uint8_t { runs, sleeps, waits, stopped };
const char* to_string(owner_state state) noexcept;

struct seen_owner {
  seen_thread thread;
  owner_state state = owner_state::runs;
  std::uint64_t waits_for = 0;  ///< where it waits at a futex: the object's address
};

struct seen_object {
  waited_object object;
  std::string name;  ///< of a lock in static storage, printable; empty for others
  std::optional<seen_owner> owner;
  std::vector<seen_thread> waiters;
};

struct waiting {
  std::size_t threads = 0;           ///< of the process
  std::size_t running = 0;           ///< of these
  std::vector<seen_object> objects;  ///< locks first, those with the most waiters first
  std::vector<int> deadlock;         ///< threads that each wait for a mutex of the next, the last for one of the first
  std::size_t stops = 0;             ///< how often a thread was stopped
  std::uint64_t max_copy_ns = 0;     ///< of a stop, that lasted at least so long
  std::uint64_t max_stop_ns = 0;     ///< the greatest bound of how long one lasted: until it stopped, included
  std::vector<std::string> remarks;  ///< what could not be had, and why, one sentence each
};

/// Whether threads give such an object to each other, so that somebody has it.
bool is_lock(wait_kind kind) noexcept;

/// Looks at a process again and again, and remembers its files and names.
class watcher {
 public:
  explicit watcher(target of);
  ~watcher();
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;

  const target& process() const { return of_; }

  /// What is true now. Threads go on meanwhile, so that each is seen at a moment of its own: those that were no longer
  /// in the same wait afterwards are left out.
  waiting look();

 private:
  class snapshot;

  target of_;
  memory_map map_;
  std::unique_ptr<unwinder> calls_;
  code_names names_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::attach

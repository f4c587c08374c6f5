// SPDX-License-Identifier: Apache-2.0
// Starts a program in a child process. (src/launch forks instead: it has to leave signals ignored in the child.)
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <string>

#include "base/words.hpp"

namespace txsync::base {

/// What happens to descriptors in the child, in the order of the calls.
class spawned_files {
 public:
  spawned_files();
  spawned_files(const spawned_files&) = delete;
  spawned_files& operator=(const spawned_files&) = delete;
  ~spawned_files();

  /// `number` of the child is what `own` is then.
  void give(int own, int number);
  void open(const char* path, int flags, int number);
  void close(int number);

  const posix_spawn_file_actions_t* get() const noexcept { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

/// Starts the program at that path. `command` begins with the program's name. Throws std::system_error.
pid_t spawn(const std::string& path, words command, words environment, const spawned_files& files);
/// The same with this process's environment, and the program as a shell finds it.
pid_t spawn_found(words command, const spawned_files& files);

/// Waits for its end. Returns the status as waitpid() gives it.
int wait_for(pid_t child) noexcept;

}  // namespace txsync::base

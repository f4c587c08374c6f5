// SPDX-License-Identifier: Apache-2.0
#include "base/spawn.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

namespace txsync::base {
namespace {

std::vector<char*> pointers(words& list) {
  std::vector<char*> made;
  made.reserve(list.size() + 1);
  for (std::string& word : list) made.push_back(word.data());
  made.push_back(nullptr);
  return made;
}

}  // namespace

spawned_files::spawned_files() { posix_spawn_file_actions_init(&actions_); }
spawned_files::~spawned_files() { posix_spawn_file_actions_destroy(&actions_); }

void spawned_files::give(int own, int number) { posix_spawn_file_actions_adddup2(&actions_, own, number); }
void spawned_files::open(const char* path, int flags, int number) {
  posix_spawn_file_actions_addopen(&actions_, number, path, flags, 0);
}
void spawned_files::close(int number) { posix_spawn_file_actions_addclose(&actions_, number); }

pid_t spawn(const std::string& path, words command, words environment, const spawned_files& files) {
  pid_t child = -1;
  const int error =
      posix_spawn(&child, path.c_str(), files.get(), nullptr, pointers(command).data(), pointers(environment).data());
  if (error != 0) throw std::system_error(error, std::generic_category());
  return child;
}

pid_t spawn_found(words command, const spawned_files& files) {
  pid_t child = -1;
  const int error =
      posix_spawnp(&child, command.front().c_str(), files.get(), nullptr, pointers(command).data(), environ);
  if (error != 0) throw std::system_error(error, std::generic_category());
  return child;
}

int wait_for(pid_t child) noexcept {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace txsync::base

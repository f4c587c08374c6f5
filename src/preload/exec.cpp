// SPDX-License-Identifier: Apache-2.0
// The launcher is told which programs the process starts. Programs that cannot load this library, because they are
// static or of another C library, cannot say so themselves. The calls go to the C library's functions unchanged. All of
// this may run in the child of a vfork, on its parent's memory: nothing is allocated or locked. Not seen: execl and its
// relatives, fexecve, execveat, and what the C library itself starts (the shell of system()).
#include <spawn.h>
#include <unistd.h>

#include <cstring>

#include <txsync/machine/park.hpp>

#include "found_once.hpp"
#include "interpose.hpp"
#include "sites.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

struct start_functions {
  decltype(&::execve) execve;
  decltype(&::execv) execv;
  decltype(&::execvp) execvp;
  decltype(&::execvpe) execvpe;
  decltype(&::posix_spawn) posix_spawn;
  decltype(&::posix_spawnp) posix_spawnp;
};

void find_starts(start_functions& all) noexcept {
  find_next(all.execve, "execve");
  find_next(all.execv, "execv");
  find_next(all.execvp, "execvp");
  find_next(all.execvpe, "execvpe");
  // In today's version: an older one runs files as scripts that are none.
  find_next(all.posix_spawn, "posix_spawn", TXSYNC_GLIBC_SPAWN);
  find_next(all.posix_spawnp, "posix_spawnp", TXSYNC_GLIBC_SPAWN);
}

const start_functions& next_start() noexcept { return found_once<start_functions, find_starts>(); }

// Early, so that the child of a vfork is never the first to look for them.
[[gnu::constructor]] void find_now() noexcept { (void)next_start(); }

/// Puts a path where the launcher sees it: unchanged, or after the working directory. False if it does not fit.
bool put_path(char (&out)[channel::started_program::max_bytes], const char* path, bool along_path) noexcept {
  const std::size_t length = std::strlen(path);
  std::size_t begin = 0;
  if (path[0] != '/' && !along_path) {
    const ssize_t got = readlink("/proc/self/cwd", out, sizeof out - 1);
    if (got <= 0) return false;
    begin = static_cast<std::size_t>(got);
    out[begin++] = '/';
  }
  if (begin + length >= sizeof out) return false;
  std::memcpy(out + begin, path, length + 1);
  return true;
}

/// `searched`: a name without a slash is searched along PATH.
void report_start(const char* path, bool searched) noexcept {
  channel::head* const file = open_file();
  if (file == nullptr || path == nullptr || path[0] == '\0') return;
  const bool along_path = searched && std::strchr(path, '/') == nullptr;
  for (channel::started_program& slot : file->started) {
    std::uint32_t state = channel::started_program::free;
    // acquire pairs with the launcher's release. If all are taken, the launcher is late, and this start is not
    // reported.
    if (!slot.state.compare_exchange_strong(state, channel::started_program::claimed, std::memory_order_acquire))
      continue;
    const bool is_there = put_path(slot.path, path, along_path);
    // release: the path; pairs with the launcher's acquire
    slot.state.store(is_there ? channel::started_program::told : channel::started_program::free,
                     std::memory_order_release);
    if (!is_there) return;
    file->doorbell.fetch_add(1, std::memory_order_seq_cst);
    machine::unpark_shared(file->doorbell, 1);
    return;
  }
}

}  // namespace

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

using namespace txsync::preload;

TXSYNC_INTERPOSE int execve(const char* path, char* const arguments[], char* const environment[]) noexcept {
  report_start(path, false);
  return next_start().execve(path, arguments, environment);
}
TXSYNC_INTERPOSE int execv(const char* path, char* const arguments[]) noexcept {
  report_start(path, false);
  return next_start().execv(path, arguments);
}
TXSYNC_INTERPOSE int execvp(const char* name, char* const arguments[]) noexcept {
  report_start(name, true);
  return next_start().execvp(name, arguments);
}
TXSYNC_INTERPOSE int execvpe(const char* name, char* const arguments[], char* const environment[]) noexcept {
  report_start(name, true);
  return next_start().execvpe(name, arguments, environment);
}
TXSYNC_INTERPOSE int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                                 const posix_spawnattr_t* attributes, char* const arguments[],
                                 char* const environment[]) {
  report_start(path, false);
  return next_start().posix_spawn(process, path, actions, attributes, arguments, environment);
}
TXSYNC_INTERPOSE int posix_spawnp(pid_t* process, const char* name, const posix_spawn_file_actions_t* actions,
                                  const posix_spawnattr_t* attributes, char* const arguments[],
                                  char* const environment[]) {
  report_start(name, true);
  return next_start().posix_spawnp(process, name, actions, attributes, arguments, environment);
}

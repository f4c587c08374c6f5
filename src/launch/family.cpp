// SPDX-License-Identifier: Apache-2.0
#include "launch/family.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <sstream>
#include <string>

#include <fmt/core.h>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/file.hpp>
#include <txsync/machine/thread.hpp>

#include "launch/folder.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {
namespace {

constexpr std::uint64_t kill_after_ns = 2'000'000'000;
constexpr std::uint64_t leave_after_ns = 5'000'000'000;

/// 0: it has ended in the meantime.
pid_t parent_of(pid_t process) {
  char buffer[1024];
  const std::string file = fmt::format("/proc/{}/stat", process);
  const machine::file_result length = machine::read_text(file.c_str(), buffer, sizeof buffer);
  if (!length.ok()) return 0;
  const std::string text(buffer, static_cast<std::size_t>(length.value));
  // The name in brackets may hold anything.
  std::istringstream rest(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  char state = 0;
  pid_t parent = 0;
  rest >> state >> parent;
  return parent;
}

std::vector<pid_t> children() {
  std::vector<pid_t> processes = all_processes();
  std::erase_if(processes, [self = getpid()](pid_t one) { return parent_of(one) != self; });
  return processes;
}

}  // namespace

family::family() : before_(children()) {
  prctl(PR_GET_CHILD_SUBREAPER, &was_reaper_);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

family::~family() { prctl(PR_SET_CHILD_SUBREAPER, was_reaper_); }

void family::end() const {
  const std::uint64_t begin = machine::clock_ns();
  std::vector<pid_t> told;
  for (;;) {
    const std::uint64_t passed = machine::clock_ns() - begin;
    bool any = false;
    for (const pid_t child : children()) {
      if (std::find(before_.begin(), before_.end(), child) != before_.end()) continue;
      any = true;
      // Its own children are children of this process now, and may not have been seen yet.
      if (waitpid(child, nullptr, WNOHANG) == child) continue;
      if (passed >= kill_after_ns) {
        kill(child, SIGKILL);
      } else if (std::find(told.begin(), told.end(), child) == told.end()) {
        kill(child, SIGTERM);
        told.push_back(child);
      }
    }
    if (!any || passed >= leave_after_ns) return;
    machine::sleep_ns(2'000'000);
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch

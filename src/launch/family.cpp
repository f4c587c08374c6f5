// SPDX-License-Identifier: Apache-2.0
#include "launch/family.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <txsync/machine/cpu.hpp>
#include <txsync/machine/thread.hpp>

namespace txsync::inline TXSYNC_BACKEND::launch {
namespace {

constexpr std::uint64_t kill_after_ns = 2'000'000'000;
constexpr std::uint64_t leave_after_ns = 5'000'000'000;

/// 0: it has ended meanwhile.
pid_t parent_of(const std::filesystem::path& process) {
  std::ifstream file(process / "stat");
  std::string text;
  std::getline(file, text, '\0');  // whole; other than an iterator it throws nothing where the process ends meanwhile
  // The name in brackets may hold anything.
  std::istringstream rest(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  char state = 0;
  pid_t parent = 0;
  rest >> state >> parent;
  return parent;
}

std::vector<pid_t> children() {
  std::vector<pid_t> found;
  std::error_code error;
  const pid_t self = getpid();
  for (std::filesystem::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename();
    if (name.find_first_not_of("0123456789") == std::string::npos && parent_of(at->path()) == self)
      found.push_back(std::stoi(name));
  }
  return found;
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
      // What it has left is a child of this process now, and may not have been seen yet.
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

}  // namespace txsync::inline TXSYNC_BACKEND::launch

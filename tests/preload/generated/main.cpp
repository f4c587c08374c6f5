// SPDX-License-Identifier: Apache-2.0
// generated PLUGIN:PLUGIN:PLUGIN [OPTION]... FIRST[-LAST]...: runs the programs of these seeds one after the other,
// each in a child. Prints one line a program that goes wrong, then its operations; exit status 1 if there was one.
// --limit SECONDS    a program that takes longer hangs (60)
// --slow SECONDS     prints which programs took longer, and how long
// --times N          each program so often
// --without NAME     leaves out operations of that name, which finds what a fault is in
// --brief            a quarter of what takes longest
// --defined          leaves out programs that POSIX leaves undefined
// --on-hang COMMAND  run by the shell, with the number of the program's process group, before a program that hangs is
//                    killed: finds where it hangs
// --show             only prints the programs
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "state.hpp"

using namespace generated;

namespace {

state& map(int memory) {
  void* const at = mmap(nullptr, state_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  if (at == MAP_FAILED) std::perror("generated: mmap"), std::exit(2);
  return *static_cast<state*>(at);
}

std::string where_threads_are(const program& made, const state& shared) {
  std::string text = "is not done; threads are at operations";
  for (int t = 0; t < made.threads; ++t) text += " " + std::to_string(shared.at[t] - 1);
  return text;
}

struct options {
  int limit_s = 60;
  double slow_s = 1e9;
  int times = 1;
  omitted without = 0;
  bool defined = false;
  bool show = false;
  const char* on_hang = nullptr;
};

/// The empty text when it went right.
std::string result_of(const program& made, const environment& around, const options& asked) {
  state& shared = map(around.memory);
  std::memset(static_cast<void*>(&shared), 0, state_bytes());
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    run_first(made, shared, around);
  }
  setpgid(child, child);
  pollfd end{static_cast<int>(syscall(SYS_pidfd_open, child, 0)), POLLIN, 0};
  const bool ended = poll(&end, 1, asked.limit_s * 1000) > 0;
  close(end.fd);
  std::string text;
  if (!ended) text = where_threads_are(made, shared);
  if (!ended && asked.on_hang != nullptr)
    static_cast<void>(std::system((std::string(asked.on_hang) + " " + std::to_string(child)).c_str()));
  kill(-child, SIGKILL);  // children of a program that went wrong, too
  int status = 0;
  waitpid(child, &status, 0);
  if (ended && shared.message[0] != 0)
    text = shared.message;
  else if (ended && WIFSIGNALED(status))
    text = std::string("ended by a signal: ") + strsignal(WTERMSIG(status)) + "; " + where_threads_are(made, shared);
  else if (ended && status != 0)
    text = "status " + std::to_string(WEXITSTATUS(status));
  munmap(static_cast<void*>(&shared), state_bytes());
  return text;
}

[[noreturn]] void be_a_process(char** arguments) {
  const environment around{arguments[0], "/proc/self/exe", std::atoi(arguments[3])};
  const program made = generate(std::strtoull(arguments[1], nullptr, 10),
                                static_cast<omitted>(std::strtoull(arguments[4], nullptr, 10)));
  if (arguments[5] == nullptr) run_other(made, map(around.memory), around, std::atoi(arguments[2]));
  place here{made, map(around.memory), around, std::atoi(arguments[2]), std::atoi(arguments[5])};
  run_executed(here, std::strcmp(arguments[6], "threads") == 0);
}

[[noreturn]] void misuse(const char* what) {
  std::fprintf(stderr,
               "generated: %s\nusage: generated PLUGIN:PLUGIN:PLUGIN [--limit SECONDS] [--slow SECONDS] [--times N] "
               "[--without NAME]... "
               "[--brief] [--defined] [--on-hang COMMAND] [--show] FIRST[-LAST]...\n",
               what);
  std::exit(2);
}

omitted bit_of_name(const std::string& name) {
  for (int i = 0; i < deeds; ++i)
    if (name == deed_names[i]) return bit_of(static_cast<deed>(i));
  for (int i = 0; i < ways; ++i)
    if (name == way_names[i]) return bit_of(static_cast<how>(i));
  misuse("--without: no operation has this name");
}

struct sums {
  unsigned long programs = 0, wrong = 0;
};

void run_seed(std::uint64_t seed, const program& made, const options& asked, const environment& around, sums& sum) {
  const auto start = std::chrono::steady_clock::now();
  const std::string text = result_of(made, around, asked);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  ++sum.programs;
  if (took.count() > asked.slow_s)
    std::printf("seed %lu took %.3f s\n", static_cast<unsigned long>(seed), took.count());
  if (!text.empty()) {
    ++sum.wrong;
    std::printf("seed %lu goes wrong: %s\n%s", static_cast<unsigned long>(seed), text.c_str(), to_text(made).c_str());
  }
  std::fflush(stdout);
}

void run_seeds(const char* range, const options& asked, const environment& around, sums& sum) {
  char* rest = nullptr;
  const std::uint64_t first = std::strtoull(range, &rest, 10);
  if (rest == range) misuse("a seed is a number");
  const std::uint64_t last = *rest == '-' ? std::strtoull(rest + 1, nullptr, 10) : first;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const program made = generate(seed, asked.without);
    if (asked.defined && made.undefined) continue;
    if (asked.show) std::printf("%s", to_text(made).c_str());
    for (int i = 0; i < asked.times && !asked.show; ++i) run_seed(seed, made, asked, around, sum);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 7 && std::strcmp(arguments[1], "--process") == 0) be_a_process(arguments + 2);
  if (count == 9 && std::strcmp(arguments[1], "--operation") == 0) be_a_process(arguments + 2);
  if (count < 3) misuse("the plug-ins and seeds are missing");
  const environment around{arguments[1], "/proc/self/exe", memfd_create("generated", 0)};
  if (around.memory < 0 || ftruncate(around.memory, static_cast<off_t>(state_bytes())) != 0)
    return std::perror("generated: memfd_create"), 2;
  options asked;
  sums sum;
  for (int i = 2; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--show")
      asked.show = true;
    else if (argument == "--brief")
      asked.without |= brief;
    else if (argument == "--defined")
      asked.defined = true;
    else if (argument == "--limit" && i + 1 < count)
      asked.limit_s = std::atoi(arguments[++i]);
    else if (argument == "--slow" && i + 1 < count)
      asked.slow_s = std::atof(arguments[++i]);
    else if (argument == "--times" && i + 1 < count)
      asked.times = std::atoi(arguments[++i]);
    else if (argument == "--on-hang" && i + 1 < count)
      asked.on_hang = arguments[++i];
    else if (argument == "--without" && i + 1 < count)
      asked.without |= bit_of_name(arguments[++i]);
    else
      run_seeds(arguments[i], asked, around, sum);
  }
  std::printf("%lu programs, %lu wrong\n", sum.programs, sum.wrong);
  return sum.wrong != 0;
}

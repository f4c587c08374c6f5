// SPDX-License-Identifier: Apache-2.0
// bench_instructions: the instructions of each uncontended lock and unlock, and of atomic blocks, single-stepped
// (./dev bench instructions).
// Exact where times are noisy: a change that adds one to a path is seen. Claim A4-3, with --against.
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string_view>

#include "command.hpp"
#include "doctor/machine_object.hpp"
#include "instructions/paths.hpp"
#include "instructions/stepper.hpp"
#include "observe/document/output.hpp"
#include "observe/statistics.hpp"

#ifndef TXSYNC_PRELOAD_LIBRARY
#define TXSYNC_PRELOAD_LIBRARY ""
#define TXSYNC_COMMAND ""
#endif

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

struct options {
  unsigned pairs = 31;
  std::string library = TXSYNC_PRELOAD_LIBRARY;
  std::string command = TXSYNC_COMMAND;
  std::string part;
  std::string path;
  int counts_file = -1;
  std::string json;
};

/// Who serves the locks of a part. Each is a process of its own, which begins with what it needs in its environment.
struct part {
  const char* subject;  ///< empty: a path's own name
  const char* paths;
  bool preloaded;
  const char* policy;  ///< of txsync run; null: not under it
};
constexpr const char* library_part = "library";
constexpr const char* pthread_part = "pthread";
constexpr const char* peer_part = "peer";
constexpr part parts[] = {{"", library_part, false, nullptr},
                          {"", peer_part, false, nullptr},
                          {"glibc", pthread_part, false, nullptr},
                          {"preload, counting off", pthread_part, true, nullptr},
                          {"txsync run --policy mutex", pthread_part, false, "mutex"},
                          {"txsync run --policy ticket", pthread_part, false, "ticket"},
                          {"txsync run --policy elide", pthread_part, false, "elide"},
                          {"txsync run", pthread_part, false, "libc"}};

std::span<const uncontended_path> paths_of(const std::string& part) {
  return part == library_part ? library_paths() : part == peer_part ? peer_paths() : pthread_paths();
}

const uncontended_path& path_of(const options& asked) {
  for (const uncontended_path& path : paths_of(asked.part)) {
    if (asked.path == path.name) return path;
  }
  return empty_path;
}

/// Prints a line for each path: its name, a tab, the count of each pair. What two writes cost is left out.
void count_part(const options& asked) {
  const auto counts_of = [&](const uncontended_path& path) {
    return count_instructions(path, asked.pairs, {"bench_instructions", "--part", asked.part});
  };
  const std::vector<std::uint64_t> empty = counts_of(empty_path);
  const std::uint64_t none = *std::min_element(empty.begin(), empty.end());
  for (const uncontended_path& path : paths_of(asked.part)) {
    std::printf("%s\t", path.name);
    for (const std::uint64_t count : counts_of(path))
      std::printf(" %llu", static_cast<unsigned long long>(count - none));
    std::printf("\n");
    std::fflush(stdout);  // the next child would print it once more
  }
}

[[noreturn]] void start(const options& asked, const part& one, int out) {
  dup2(out, STDOUT_FILENO);
  const std::string self = "/proc/self/exe";
  char own_path[4096];
  const ssize_t length = readlink(self.c_str(), own_path, sizeof own_path - 1);
  if (length <= 0) _exit(127);
  own_path[length] = '\0';
  const std::string pairs = std::to_string(asked.pairs);
  setenv("TXSYNC_HTM", "off", 1);
  if (one.preloaded) setenv("LD_PRELOAD", asked.library.c_str(), 1);
  if (one.policy != nullptr) {
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(127);  // the table of sites
    execl(asked.command.c_str(), "txsync", "run", "--policy", one.policy, "--", own_path, "--part", one.paths,
          "--pairs", pairs.c_str(), nullptr);
  } else {
    execl(own_path, own_path, "--part", one.paths, "--pairs", pairs.c_str(), nullptr);
  }
  _exit(127);
}

std::string output_of(const options& asked, const part& one) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == 0) start(asked, one, ends[1]);
  close(ends[1]);
  std::string all;
  char piece[4096];
  for (ssize_t got = 0; (got = read(ends[0], piece, sizeof piece)) > 0;)
    all.append(piece, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error(std::string("the counting of ") + (one.subject[0] == '\0' ? one.paths : one.subject) +
                             " failed");
  return all;
}

observe::point point_of(const part& one, const std::string& path, const std::string& counts) {
  observe::point made;
  made.workload = "uncontended";
  const bool has_own_name = one.subject[0] == '\0';
  if (!has_own_name) made.params["lock"] = path;
  made.placement = "none";
  made.subject = has_own_name ? path : one.subject;
  const bool ours = std::string_view(one.paths) == library_part || one.preloaded || one.policy != nullptr;
  made.kind = !ours ? observe::subject_kind::peer : observe::subject_kind::ours;
  made.metric = "instructions of a lock and unlock";
  made.unit = "instructions";
  made.way = observe::better::lower;
  std::istringstream numbers(counts);
  for (double value = 0; numbers >> value;) made.values.push_back(value);
  return made;
}

std::vector<observe::point> count_all(const options& asked) {
  std::vector<observe::point> points;
  for (const part& one : parts) {
    if ((one.preloaded && asked.library.empty()) || (one.policy != nullptr && asked.command.empty())) continue;
    std::istringstream lines(output_of(asked, one));
    for (std::string line; std::getline(lines, line);) {
      const std::size_t tab = line.find('\t');
      if (tab != std::string::npos) points.push_back(point_of(one, line.substr(0, tab), line.substr(tab + 1)));
    }
  }
  return points;
}

void print(std::FILE* out, const std::vector<observe::point>& points) {
  std::fprintf(
      out, "instructions of an uncontended lock and unlock, or atomic block, without attempts: median, least, most\n");
  for (const observe::point& one : points) {
    const observe::summary counts = observe::summarize(one.values);
    const std::string lock = one.params.contains("lock") ? ", " + one.params["lock"].get<std::string>() : "";
    std::fprintf(out, "%-42s %6.0f %6.0f %6.0f\n", (one.subject + lock).c_str(), counts.median, counts.low,
                 counts.high);
  }
}

int run(const options& asked, const std::vector<std::string>& words) {
  if (!asked.path.empty()) {
    be_stepped(path_of(asked), asked.pairs, asked.counts_file);
    return 0;
  }
  if (!asked.part.empty()) {
    count_part(asked);
    return 0;
  }
  std::optional<observe::output> output;
  if (!asked.json.empty()) output.emplace(asked.json);
  count_instructions(empty_path, 1, {"bench_instructions", "--part", library_part});  // says why where it cannot
  observe::document result;
  result.started = observe::utc_now();
  result.points = count_all(asked);
  print(output && output->is_standard_output() ? stderr : stdout, result.points);
  if (output) {
    result.command = words;
    result.machine = txsync::doctor::machine_object(txsync::doctor::collect());
    output->write(result);
  }
  return 0;
}

}  // namespace

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

int main(int count, char** words) {
  using namespace txsync::benchmarks;
  options asked;
  CLI::App app{
      "The instructions of each uncontended lock and unlock, counted by single-stepping a child process (ptrace), "
      "with\n"
      "TXSYNC_HTM=off: the library's locks, and pthread's by glibc, preloaded, and under txsync run; oneTBB's mutex.\n"
      "Also of two atomic blocks, beside another thread's blocks and without. Exit status: 1 where the system does not "
      "single-step, 2 for bad input."};
  app.add_option("--pairs", asked.pairs, "counted locks and unlocks of each (31)")->check(CLI::Range(1, 10'000));
  app.add_option("--library", asked.library, "another libtxsync-preload.so")->check(CLI::ExistingFile);
  app.add_option("--part", asked.part, "for the program itself")
      ->check(CLI::IsMember({library_part, pthread_part, peer_part}))
      ->group("");
  app.add_option("--path", asked.path, "for the program itself")->group("");
  app.add_option("--counts", asked.counts_file, "for the program itself")->group("");
  app.add_option("--json", asked.json, "write a result document to this file; - is the standard output");
  return run_command(app, "bench_instructions", count, words, [&](const auto& line) { return run(asked, line); });
}

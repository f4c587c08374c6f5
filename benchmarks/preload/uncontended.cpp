// SPDX-License-Identifier: Apache-2.0
// bench_preload (./dev bench preload): what an uncontended lock and unlock cost in an unmodified program. The variants
// are the C library, the preloaded library without counting, and `txsync run`, with its own locks counted and under
// `mutex`. One child runs after the other. Claim A2-4; for mutexes that are locked once, claim A3-6. Whole programs
// follow: claim A3-5 (whole_programs.hpp).
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>

#include "command.hpp"
#include "doctor/machine_object.hpp"
#include "observe/document/document.hpp"
#include "observe/document/output.hpp"
#include "observe/statistics.hpp"
#include "preload/agreement.hpp"
#include "preload/whole_programs.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

constexpr int bad_input = 2;
constexpr double goal_counting_off = 1.3;
constexpr double goal_sampling = 0.8;
constexpr double max_short_life_ratio = 3;  // times the C library's
constexpr const char* sections[] = {"normal", "adaptive", "recursive",   "nested",     "errorcheck",  "read",
                                    "write",  "spin",     "short_stack", "short_heap", "short_static"};
/// Those from here on are whole lives of mutexes that are locked once.
constexpr std::size_t first_short = 8;
/// The first so many are what A2-4 speaks of: mutexes without anything to check, as nearly all of a program's are.
constexpr std::size_t claimed = 2;

struct options {
  unsigned rounds = 12;
  unsigned milliseconds = 40;
  std::string library = TXSYNC_PRELOAD_LIBRARY;
  std::string command = TXSYNC_COMMAND;
  std::string program = TXSYNC_PRELOAD_SECTIONS;
  std::string own_times = TXSYNC_OWN_TIMES;
  whole_programs_options programs = {.own_times = TXSYNC_OWN_TIMES, .integrations = TXSYNC_INTEGRATIONS};
  std::string json;
};

enum class mode : std::uint8_t { libc, preloaded, sampled, counted };
constexpr mode modes[] = {mode::libc, mode::preloaded, mode::sampled, mode::counted};
constexpr const char* names[] = {"glibc", "preload, counting off", "txsync run --policy mutex", "txsync run"};

/// Nanoseconds a pair, by round.
using table = std::array<std::array<std::vector<double>, std::size(modes)>, std::size(sections)>;

[[noreturn]] void start(const options& asked, const char* section, mode how, int out) {
  dup2(out, STDOUT_FILENO);
  const std::string milliseconds = std::to_string(asked.milliseconds);
  if (how == mode::preloaded) setenv("LD_PRELOAD", asked.library.c_str(), 1);
  if (how == mode::sampled || how == mode::counted) {
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(127);  // the table of sites
    const char* const policy = how == mode::sampled ? "mutex" : "libc";
    execl(asked.command.c_str(), "txsync", "run", "--policy", policy, "--", asked.program.c_str(), section,
          milliseconds.c_str(), nullptr);
  } else {
    execl(asked.program.c_str(), asked.program.c_str(), section, milliseconds.c_str(), nullptr);
  }
  _exit(127);
}

double measure_child(const options& asked, const char* section, mode how) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == 0) start(asked, section, how, ends[1]);
  close(ends[1]);
  std::FILE* const answer = fdopen(ends[0], "r");
  double ns = 0;
  const bool read = answer != nullptr && std::fscanf(answer, "%lf", &ns) == 1;
  if (answer != nullptr) std::fclose(answer);
  int status = 0;
  waitpid(child, &status, 0);
  if (!read || ns <= 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error(std::string("the child failed: ") + section + ", " + names[static_cast<int>(how)]);
  return ns;
}

table measure(const options& asked) {
  table all;
  for (unsigned round = 0; round < asked.rounds; ++round) {
    for (std::size_t section = 0; section < std::size(sections); ++section)
      for (std::size_t how = 0; how < std::size(modes); ++how)
        all[section][how].push_back(measure_child(asked, sections[section], modes[how]));
  }
  return all;
}

/// What counting adds to a pair of the C library's.
observe::interval added_ns(const std::array<std::vector<double>, std::size(modes)>& cell) {
  std::vector<double> added;
  for (std::size_t i = 0; i < cell[0].size(); ++i) added.push_back(cell[3][i] - cell[0][i]);
  return observe::median_interval(added);
}

void print(std::FILE* out, const table& all) {
  std::fprintf(out,
               "ns for an uncontended lock and unlock (short_*: for the whole life of a mutex that is locked once), "
               "median, and how many times as fast as glibc's\n");
  std::fprintf(out, "%-12s %8s %10s %22s %10s %22s %26s\n", "", "glibc", "preload", "", "mutex", "",
               "own locks counted, added ns");
  for (std::size_t section = 0; section < std::size(sections); ++section) {
    const auto& cell = all[section];
    const observe::interval off = observe::ratio_interval(cell[1], cell[0], observe::better::lower);
    const observe::interval on = observe::ratio_interval(cell[2], cell[0], observe::better::lower);
    const observe::interval added = added_ns(cell);
    std::fprintf(out,
                 "%-12s %8.2f %10.2f   %5.2fx [%4.2f, %4.2f] %10.2f   %5.2fx [%4.2f, %4.2f]  %+10.2f [%.2f, %.2f]\n",
                 sections[section], observe::summarize(cell[0]).median, observe::summarize(cell[1]).median, off.median,
                 off.low95, off.high95, observe::summarize(cell[2]).median, on.median, on.low95, on.high95,
                 added.median, added.low95, added.high95);
  }
}

std::size_t point_of(std::size_t section, std::size_t how) { return section * std::size(modes) + how; }

/// What a life costs to what it costs with the C library alone: with its own locks counted, and with ours.
void put_claims_of_short_lives(const table& all, std::vector<observe::claim>& claims) {
  for (const std::size_t how : {std::size_t{3}, std::size_t{2}}) {
    for (std::size_t section = first_short; section < std::size(sections); ++section) {
      const observe::interval ratio = observe::ratio_interval(all[section][how], all[section][0]);
      claims.push_back(observe::judged({.id = "A3-6",
                                        .words = std::string("a mutex that is locked once, ") + sections[section] +
                                                 ", " + names[how] + ": time to that of the plain program",
                                        .from = {point_of(section, how), point_of(section, 0)}},
                                       ratio, max_short_life_ratio, observe::better::lower));
    }
  }
}

std::vector<observe::claim> make_claims(const table& all) {
  std::vector<observe::claim> claims;
  for (const std::size_t how : {std::size_t{1}, std::size_t{2}}) {
    for (std::size_t section = 0; section < claimed; ++section) {
      const observe::interval ratio =
          observe::ratio_interval(all[section][how], all[section][0], observe::better::lower);
      const double goal = how == 1 ? goal_counting_off : goal_sampling;
      claims.push_back(observe::judged({.id = "A2-4",
                                        .words = std::string("uncontended lock and unlock, ") + sections[section] +
                                                 " mutex, " + names[how] + ": times as fast as glibc's own",
                                        .from = {point_of(section, how), point_of(section, 0)}},
                                       ratio, goal));
    }
  }
  put_claims_of_short_lives(all, claims);
  return claims;
}

void fill(observe::document& result, const table& all) {
  for (std::size_t section = 0; section < std::size(sections); ++section) {
    for (std::size_t how = 0; how < std::size(modes); ++how) {
      observe::point made;
      made.workload = section < first_short ? "uncontended" : "short life";
      made.params["lock"] = sections[section];
      made.placement = "none";
      made.subject = names[how];
      made.kind = modes[how] == mode::libc ? observe::subject_kind::peer : observe::subject_kind::ours;
      made.metric = section < first_short ? "time of a lock and unlock" : "time of a life";
      made.unit = "ns";
      made.way = observe::better::lower;
      made.values = all[section][how];
      result.points.push_back(std::move(made));
    }
  }
}

int run(const options& asked, int count, char** arguments) {
  std::optional<observe::output> output;
  if (!asked.json.empty()) output.emplace(asked.json);
  observe::document result;
  result.started = observe::utc_now();
  std::FILE* const out = output && output->is_standard_output() ? stderr : stdout;
  if (asked.programs.only.empty()) {
    const table all = measure(asked);
    print(out, all);
    result.claims = make_claims(all);
    fill(result, all);
    measure_agreement(result, asked.own_times, asked.rounds / 2);
  }
  if (asked.programs.rounds != 0) measure_whole_programs(result, asked.programs, out);
  print_claims(result.claims, out);
  if (output) {
    result.command.assign(arguments, arguments + count);
    result.machine = txsync::doctor::machine_object(txsync::doctor::collect());
    output->write(result);
  }
  return result.interrupted ? 1 : 0;
}

}  // namespace

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

int main(int count, char** arguments) {
  using namespace txsync::benchmarks;
  options asked;
  bool quick = false;
  CLI::App app{
      "Uncontended pthread locks of an unmodified program: glibc, preloaded, and counted; and whole programs under "
      "txsync "
      "run. Interleaved."};
  app.add_option("--rounds", asked.rounds, "children of each kind (12)")->check(CLI::Range(2, 1000));
  app.add_option("--duration", asked.milliseconds, "milliseconds a child measures (40)")->check(CLI::Range(1, 60'000));
  app.add_option("--library", asked.library, "another libtxsync-preload.so")->check(CLI::ExistingFile);
  app.add_option("--pairs", asked.programs.rounds, "rounds of whole programs (20; 0: none, without --only)")
      ->check(CLI::Range(0, 1000));
  app.add_option("--only", asked.programs.only, "only these whole programs, and nothing else")
      ->delimiter(',')
      ->check(CLI::IsMember(whole_program_names()));
  app.add_flag("--quick", quick, "2 children of each kind and 2 rounds of whole programs");
  app.add_option("--json", asked.json, "write a result document to this file; - is the standard output");
  try {
    parse_options(app, count, arguments);
    if (quick) asked.rounds = asked.programs.rounds = 2;
    return run(asked, count, arguments);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "bench_preload: %s\n", error.what());
    return bad_input;
  } catch (const txsync::observe::output_error& error) {
    std::fprintf(stderr, "bench_preload: %s\n", error.what());
    return bad_input;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_preload: %s\n", error.what());
    return 1;
  }
}

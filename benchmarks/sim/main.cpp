// SPDX-License-Identifier: Apache-2.0
// bench_sim (./dev bench sim): how fast the simulated machine itself is. It measures accesses to memory simulated in a
// second of processor time, schedules explored in a second, and the memory for a large data set. Processor time, so
// that other programs on this machine disturb less. Starting the image and setting up its data are part of it. Claim
// B-3. It also shows what one global lock does: claim B-1 (global_lock.hpp).
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <stdexcept>

#include "command.hpp"
#include "doctor/machine_object.hpp"
#include "observe/document/output.hpp"
#include "observe/statistics.hpp"
#include "sim/global_lock.hpp"
#include "sim/host/image.hpp"
#include "sim/models/machine_file.hpp"
#include "simulate/explore.hpp"
#include "simulate/simulate.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

constexpr double million = 1e6;
constexpr double goal_one_fiber = 60 * million;
constexpr double goal_eight = 30 * million;
constexpr double goal_slack = 50 * million;
constexpr double goal_schedules = 0.5 * million;
constexpr double goal_own_schedules = 0.05 * million;
constexpr double goal_mib = 2048;

struct options {
  unsigned rounds = 6;
  double scale = 1;  // of the work a run
  std::string json;
};

/// What images have used so far, all that have ended.
rusage used_by_images() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  return used;
}

double cpu_seconds() {
  const rusage used = used_by_images();
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / million;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// What is measured, and the figure asked for, where there is one.
struct subject {
  std::string name;
  std::string unit;
  observe::json params;
  unsigned threads = 1;
  sim::image_request request;
  double work = 0;  ///< in the unit; 0: the accesses that the run tells
  std::optional<double> goal;
  std::vector<double> values = {};
};

// ---- the machine: mapbench on all of its model

sim::image_request mapbench(const char* machine, const char* lock, unsigned threads, std::uint64_t operations,
                            std::uint64_t keys, unsigned updates) {
  sim::image_request made;
  made.path = sim::image_file("workloads");
  made.model = sim::load_machine(machine).model;
  const workloads::workload& which = *workloads::find_workload("mapbench");
  const std::uint64_t half = updates / 2;
  const workloads::parameters values{{keys, 100 - 2 * half, half, half}};
  made.arguments =
      simulate::image_arguments(which, lock, {.threads = threads, .duration_ns = 0, .operations = operations}, values);
  return made;
}

subject accesses(const options& asked, const char* lock, unsigned threads, double operations, std::uint64_t slack,
                 std::optional<double> goal) {
  constexpr std::uint64_t keys = 10'000;
  constexpr unsigned updates = 4;
  subject made;
  made.name = std::string(lock) + (slack != 0 ? ", slack " + std::to_string(slack) : "");
  made.unit = "accesses/s";
  made.threads = threads;
  made.params = {{"machine", "broadwell-e5-2697v4"}, {"keys", keys}, {"updates", updates}, {"slack", slack}};
  made.request = mapbench("broadwell-e5-2697v4", lock, threads, static_cast<std::uint64_t>(operations * asked.scale),
                          keys, updates);
  made.request.slack_cycles = slack;
  made.goal = goal;
  return made;
}

// ---- exploring: two threads and a lock on the ideal machine

subject schedules(const options& asked, const char* test, double count, bool store_buffers,
                  std::optional<double> goal) {
  subject made;
  made.name = std::string("exploring ") + test + (store_buffers ? ", store buffers" : "");
  made.unit = "schedules/s";
  made.threads = 2;
  made.work = count * asked.scale;
  made.params = {{"machine", "ideal"}, {"order", "random"}, {"store_buffers", store_buffers ? "yes" : "no"}};
  simulate::schedule_key first;
  first.test = test;
  first.kind.store_buffers = store_buffers;
  made.request = simulate::exploration_request(first, static_cast<std::uint64_t>(made.work));
  made.goal = goal;
  return made;
}

/// A user's test, which explores itself in one process.
subject own_schedules(const options& asked, double count) {
  subject made;
  made.name = "a user's test in one process";
  made.unit = "schedules/s";
  made.threads = 2;
  made.work = count * asked.scale;
  made.params = {{"machine", "ideal"}, {"order", "in turn"}, {"store_buffers", "no"}};
  made.request.path = TXSYNC_OWN_EXPLORATION;
  made.request.model = simulate::machine_of_programs({}).model;
  made.request.order = sim::schedule_order::random;
  made.request.arguments = {std::to_string(static_cast<std::uint64_t>(made.work))};
  made.goal = goal_own_schedules;
  return made;
}

std::vector<subject> subjects_of(const options& asked) {
  return {accesses(asked, "tatas", 1, 400'000, 0, goal_one_fiber),
          accesses(asked, "tatas", 8, 50'000, 0, goal_eight),
          accesses(asked, "mcs", 8, 6'000, 0, {}),
          accesses(asked, "elided_tatas", 8, 25'000, 0, goal_eight),
          accesses(asked, "tatas", 8, 50'000, 200, goal_slack),
          accesses(asked, "mcs", 8, 12'000, 200, {}),
          accesses(asked, "elided_tatas", 8, 40'000, 200, goal_slack),
          schedules(asked, "tatas", 100'000, false, goal_schedules),
          schedules(asked, "tatas", 60'000, true, {}),
          schedules(asked, "mcs", 60'000, false, {}),
          schedules(asked, "futex", 60'000, false, {}),
          schedules(asked, "elided_tatas", 60'000, false, {}),
          own_schedules(asked, 30'000)};
}

sim::image_result run(const subject& one) {
  sim::image_result ended = sim::run_image(one.request);
  if (ended.status == 0) return ended;
  throw std::runtime_error(one.name + ": the image answered " + std::to_string(ended.status) + ": " +
                           ended.messages.substr(0, ended.messages.find('\n')));
}

/// Interleaved: one run of each, and again.
void measure(std::vector<subject>& subjects, unsigned rounds) {
  for (unsigned round = 0; round < rounds; ++round) {
    for (subject& one : subjects) {
      const double before = cpu_seconds();
      const sim::image_result ended = run(one);
      const double work = one.work != 0 ? one.work : static_cast<double>(ended.number(sim::number_record::accesses));
      one.values.push_back(work / (cpu_seconds() - before));
    }
  }
}

/// The most that any image has taken so far, which is this one's: a map of 120 MB on 80 hardware threads.
subject measure_memory() {
  constexpr std::uint64_t keys = 5'000'000;  // half of them are in the map, in nodes of 48 bytes
  constexpr unsigned threads = 80;
  subject made;
  made.name = "peak memory, elided_tatas";
  made.unit = "MiB";
  made.threads = threads;
  made.params = {{"machine", "power8-8284-22a"}, {"keys", keys}};
  made.request = mapbench("power8-8284-22a", "elided_tatas", threads, 500, keys, 4);
  run(made);
  made.values = {static_cast<double>(used_by_images().ru_maxrss) / 1024};
  made.goal = goal_mib;
  return made;
}

observe::point point_of(const subject& one) {
  const bool memory = one.unit == "MiB";
  observe::point made;
  made.workload = one.work != 0 ? "exploring" : "mapbench";
  made.params = one.params;
  made.threads = one.threads;
  made.placement = "none";
  made.subject = one.name;
  made.metric = memory ? "peak memory" : "speed of the simulation";
  made.unit = one.unit;
  made.values = one.values;
  made.way = memory ? observe::better::lower : observe::better::higher;
  return made;
}

observe::claim claim_of(const subject& one, std::size_t index) {
  const bool memory = one.unit == "MiB";
  return observe::judged(
      {.id = "B-3",
       .words = one.name + ", " + std::to_string(one.threads) + (one.threads == 1 ? " thread" : " threads"),
       .from = {index}},
      observe::median_interval(one.values), *one.goal, memory ? observe::better::lower : observe::better::higher);
}

void print(const std::vector<subject>& subjects, std::FILE* out) {
  std::fprintf(out, "%-44s %7s %28s %14s %10s\n", "a second of processor time", "threads", "median (range)", "",
               "goal");
  for (const subject& one : subjects) {
    const observe::summary all = observe::summarize(one.values);
    const bool memory = one.unit == "MiB";
    const double unit = memory ? 1 : million;
    std::fprintf(out, "%-44s %7u %10.*f (%.*f to %.*f) %s%s", one.name.c_str(), one.threads, memory ? 0 : 2,
                 all.median / unit, memory ? 0 : 2, all.low / unit, memory ? 0 : 2, all.high / unit,
                 memory ? "" : "million ", one.unit.c_str());
    if (one.goal) std::fprintf(out, ", goal %g: %s", *one.goal / unit, observe::verdict_text(claim_of(one, 0)));
    std::fputc('\n', out);
  }
}

int bench(const options& asked, const std::vector<std::string>& command) {
  std::optional<observe::output> output;
  if (!asked.json.empty()) output.emplace(asked.json);
  observe::document result;
  result.command = command;
  result.started = observe::utc_now();
  std::vector<subject> subjects = subjects_of(asked);
  measure(subjects, asked.rounds);
  subjects.push_back(measure_memory());
  for (const subject& one : subjects) {
    if (one.goal) result.claims.push_back(claim_of(one, result.points.size()));
    result.points.push_back(point_of(one));
  }
  std::FILE* const out = asked.json == "-" ? stderr : stdout;
  print(subjects, out);
  measure_global_lock(result, out);
  if (output) {
    result.machine = doctor::machine_object(doctor::collect());
    output->write(result);
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("How fast the simulated machine is, in processor time, and how much memory it takes.");
  options asked;
  app.add_option("--rounds", asked.rounds, "of all subjects")->capture_default_str()->check(CLI::Range(1, 1000));
  app.add_option("--scale", asked.scale, "of the work a run")->capture_default_str()->check(CLI::Range(0.01, 100.0));
  app.add_option("--json", asked.json, "write a result document to this file; - is the standard output");
  return run_command(app, "bench_sim", count, words,
                     [&](const std::vector<std::string>& command) { return bench(asked, command); });
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

int main(int count, char** words) { return txsync::benchmarks::main(count, words); }

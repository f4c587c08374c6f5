// SPDX-License-Identifier: Apache-2.0
// bench_elision (./dev bench elision): the effect of elision policies on simulated machines. The critical sections are
// short or long, with or without conflicts, and fit into an attempt or do not. Claim C1-3: the standard policy is never
// far below the better of two locks, the plain one and the one that is always elided. What it has learnt by then
// counts, so runs have enough sections for that.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <stdexcept>

#include "command.hpp"
#include "doctor/machine_object.hpp"
#include "observe/document/output.hpp"
#include "observe/statistics.hpp"
#include "sim/host/image.hpp"
#include "sim/models/machine_file.hpp"
#include "simulate/simulate.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

constexpr double goal = 0.9;

struct options {
  unsigned microseconds = 2'000;
  unsigned seeds = 3;
  std::string lock = "mcs";
  std::vector<std::string> machines{"haswell-i7-4770", "sapphire-rapids"};
  bool policies = false;
  std::string json;
};

/// Sections of arraybench: how long, and on how much data.
struct section {
  std::uint64_t ints;
  std::uint64_t writes;
};
constexpr section sections[] = {{64, 10},      {64, 100},     {64, 400},      {16'384, 10},  {16'384, 100},
                                {16'384, 400}, {1 << 20, 10}, {1 << 20, 100}, {1 << 20, 400}};

std::vector<unsigned> threads_on(const sim::machine_model& machine) {
  const unsigned all = machine.hardware_threads();
  if (all <= 8) return {1, 2, 4, 8};
  return {1, 8, 28, 56};
}

/// One place of the sweep, and what each subject did there.
struct cell {
  std::string machine;
  section what;
  unsigned threads;
  std::map<std::string, double> throughput = {};  ///< sections a second, the median over seeds
  std::map<std::string, std::size_t> points = {};

  double better_way(const options& asked) const {
    return std::max(throughput.at(asked.lock), throughput.at("eager_" + asked.lock));
  }
};

std::vector<std::string> subjects_of(const options& asked) {
  std::vector<std::string> all{asked.lock};
  for (const char* const policy : {"eager_", "elided_"}) all.push_back(policy + asked.lock);
  if (!asked.policies) return all;
  for (const char* const policy : {"glibc_", "libomp_", "xsync_"}) all.push_back(policy + asked.lock);
  return all;
}

double run(std::uint64_t duration_ns, const sim::machine_model& machine, const cell& place, const std::string& subject,
           std::uint64_t seed) {
  sim::image_request request;
  request.path = sim::image_file("workloads");
  request.model = machine;
  request.seed = seed;
  request.uncharged_set_up = true;
  const workloads::workload& arraybench = *workloads::find_workload("arraybench");
  workloads::parameters values = workloads::default_parameters(arraybench);
  values.values[workloads::find_parameter(arraybench, "ints")] = place.what.ints;
  values.values[workloads::find_parameter(arraybench, "writes")] = place.what.writes;
  request.arguments = simulate::image_arguments(
      arraybench, subject,
      {.threads = place.threads, .duration_ns = duration_ns, .run_in_ns = duration_ns / 2, .seed = seed}, values);
  const sim::image_result ended = sim::run_image(request);
  if (ended.status != 0) throw std::runtime_error(subject + ": " + ended.messages.substr(0, ended.messages.find('\n')));
  return static_cast<double>(ended.program_number(sim::program_record::operations)) * 1e9 /
         static_cast<double>(ended.program_number(sim::program_record::elapsed_ns));
}

/// Long enough for what is learnt to be learnt: about a thousand sections a thread, by what the plain lock does.
std::uint64_t duration_of(const options& asked, const sim::machine_model& machine, const cell& place) {
  constexpr double sections_each = 1'000;
  constexpr double longest = 100e6;
  const std::uint64_t least = std::uint64_t{asked.microseconds} * 1'000;
  const double a_second = run(least, machine, place, asked.lock, 1);
  const double wanted = std::min(longest, sections_each * place.threads / a_second * 1e9);
  return std::max(least, static_cast<std::uint64_t>(wanted));
}

observe::point point_of(const cell& place, const std::string& subject, const std::vector<double>& throughput) {
  observe::point made;
  made.workload = "arraybench";
  made.params = {{"machine", place.machine}, {"ints", place.what.ints}, {"writes", place.what.writes}};
  made.threads = place.threads;
  made.placement = "cores-first";
  made.subject = subject;
  made.metric = "throughput";
  made.unit = "sections/s, simulated";
  made.values = throughput;
  return made;
}

std::vector<cell> measure(const options& asked, observe::document& result) {
  std::vector<cell> cells;
  const std::vector<std::string> subjects = subjects_of(asked);
  for (const std::string& name : asked.machines) {
    const sim::machine machine = sim::load_machine(name);
    std::fprintf(stderr, "%s\n", name.c_str());
    for (const section& what : sections) {
      for (const unsigned threads : threads_on(machine.model)) {
        cell place{name, what, threads};
        const std::uint64_t duration_ns = duration_of(asked, machine.model, place);
        for (const std::string& subject : subjects) {
          std::vector<double> throughput;
          for (unsigned seed = 1; seed <= asked.seeds; ++seed)
            throughput.push_back(run(duration_ns, machine.model, place, subject, seed));
          place.throughput[subject] = observe::median_interval(throughput).median;
          place.points[subject] = result.points.size();
          result.points.push_back(point_of(place, subject, throughput));
        }
        cells.push_back(std::move(place));
      }
    }
  }
  return cells;
}

void print(const options& asked, const std::vector<cell>& cells, std::FILE* out) {
  const std::vector<std::string> subjects = subjects_of(asked);
  std::fprintf(out, "%-18s %8s %7s %8s", "simulated", "ints", "writes", "threads");
  for (const std::string& one : subjects) std::fprintf(out, " %12s", one.c_str());
  std::fprintf(out, "   million sections/s, and as part of the better of the first two\n");
  for (const cell& one : cells) {
    std::fprintf(out, "%-18s %8llu %7llu %8u", one.machine.c_str(), static_cast<unsigned long long>(one.what.ints),
                 static_cast<unsigned long long>(one.what.writes), one.threads);
    for (const std::string& subject : subjects) std::fprintf(out, " %12.3f", one.throughput.at(subject) / 1e6);
    for (std::size_t i = 2; i < subjects.size(); ++i) {
      std::fprintf(out, " %6.2f", one.throughput.at(subjects[i]) / one.better_way(asked));
    }
    std::fputc('\n', out);
  }
}

/// For each policy its worst cell and the mean of all.
void judge(const options& asked, const std::vector<cell>& cells, observe::document& result, std::FILE* out) {
  const std::vector<std::string> subjects = subjects_of(asked);
  for (std::size_t i = 2; i < subjects.size(); ++i) {
    const cell* worst = nullptr;
    double worst_ratio = 1e9;
    double logarithms = 0;
    unsigned under = 0;
    std::vector<std::size_t> from;
    for (const cell& one : cells) {
      const double ratio = one.throughput.at(subjects[i]) / one.better_way(asked);
      logarithms += std::log(ratio);
      under += ratio < goal ? 1 : 0;
      for (const std::size_t subject : {std::size_t{0}, std::size_t{1}, i}) {
        from.push_back(one.points.at(subjects[subject]));
      }
      if (ratio >= worst_ratio) continue;
      worst_ratio = ratio;
      worst = &one;
    }
    const double mean = std::exp(logarithms / static_cast<double>(cells.size()));
    const std::string where = worst->machine + ", " + std::to_string(worst->what.ints) + " ints, " +
                              std::to_string(worst->what.writes) + " writes, " + std::to_string(worst->threads) +
                              " threads";
    std::fprintf(out, "%-14s worst %.2f (%s), geometric mean %.2f, %u of %zu cells under %.1f\n", subjects[i].c_str(),
                 worst_ratio, where.c_str(), mean, under, cells.size(), goal);
    if (i != 2) continue;
    result.claims.push_back(
        observe::judged({.id = "C1-3",
                         .words = subjects[i] + " over the better of " + subjects[0] + " and " + subjects[1] +
                                  ", worst of " + std::to_string(cells.size()) + " simulated cells: " + where,
                         .from = from},
                        worst_ratio, goal));
    std::fprintf(out, "C1-3 %s: %.2f (goal %.1f)\n", observe::verdict_text(result.claims.back()), worst_ratio, goal);
  }
}

int bench(const options& asked, const std::vector<std::string>& command) {
  std::optional<observe::output> output;
  if (!asked.json.empty()) output.emplace(asked.json);
  observe::document result;
  result.command = command;
  std::FILE* const out = asked.json == "-" ? stderr : stdout;
  const std::vector<cell> cells = measure(asked, result);
  print(asked, cells, out);
  judge(asked, cells, result, out);
  if (output) {
    result.machine = doctor::machine_object(doctor::collect());
    output->write(result);
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("Policies of elision over lengths of sections, contention and footprint, on simulated machines.");
  options asked;
  app.add_option("--duration", asked.microseconds,
                 "microseconds of the simulated machine a run, at least; half as much runs before it")
      ->capture_default_str()
      ->check(CLI::Range(100, 1'000'000));
  app.add_option("--seeds", asked.seeds,
                 "runs of each cell, whose median counts: the order in which threads happen to queue moves a fair lock "
                 "by a tenth")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000));
  app.add_option("--lock", asked.lock, "the lock that is elided")
      ->capture_default_str()
      ->check(CLI::IsMember({"mcs", "futex", "tatas"}));
  app.add_option("--machines", asked.machines, "of txsync list machines")->delimiter(',')->capture_default_str();
  app.add_flag("--policies", asked.policies, "also glibc's, libomp's and the LevelDB paper's rules");
  app.add_option("--json", asked.json, "write a result document to this file; - is the standard output");
  return run_command(app, "bench_elision", count, words,
                     [&](const std::vector<std::string>& command) { return bench(asked, command); });
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

int main(int count, char** words) { return txsync::benchmarks::main(count, words); }

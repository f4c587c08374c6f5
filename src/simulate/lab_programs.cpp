// SPDX-License-Identifier: Apache-2.0
// The runs of `txsync lab` for experiments that have a whole program: one process of it for each point and seed.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/core.h>

#include <txsync/machine/assert.hpp>

#include "base/print.hpp"
#include "base/stop_on_signal.hpp"
#include "base/words.hpp"
#include "experiments/driver_output.hpp"
#include "simulate/lab.hpp"
#include "simulate/simulate.hpp"
#include "symbols/code_place.hpp"
#include "symbols/symbols.hpp"
#include "workloads/harness/random.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {
using base::stop_on_signal;
using base::words;

namespace {

using experiments::driver_output;
using experiments::experiment;
using experiments::variant;

std::string file_of(const experiments::program& whole, const variant& curve, const std::string& folder) {
  return (std::filesystem::path(folder) / whole.folder / curve.file).string();
}

std::string whole_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A new folder, which is removed with all that is in it. `pattern` is as mkdtemp() takes it. Throws sim::image_error.
class run_folder {
 public:
  explicit run_folder(std::string pattern) : path_(std::move(pattern)) {
    if (mkdtemp(path_.data()) == nullptr) throw sim::image_error("cannot make the folder " + path_);
  }
  ~run_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  run_folder(const run_folder&) = delete;
  run_folder& operator=(const run_folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// What differs from run to run.
struct program_run {
  std::string workload;
  unsigned threads = 1;
  std::uint64_t operations = 0;
  std::uint64_t seed = 1;
};

/// The driver's arguments, with words instead of the names in braces.
words arguments_of(const experiments::program& whole, const program_run& one, const std::string& folder) {
  std::vector<std::pair<std::string, std::string>> values = {{"{folder}", folder},
                                                             {"{workload}", one.workload},
                                                             {"{threads}", std::to_string(one.threads)},
                                                             {"{operations}", std::to_string(one.operations)},
                                                             {"{seed}", std::to_string(one.seed)}};
  for (const auto& [key, value] : whole.settings) values.emplace_back("{" + key + "}", std::to_string(value));
  words made = whole.arguments;
  for (std::string& argument : made) {
    for (const auto& [name, value] : values) {
      const std::size_t at = argument.find(name);
      if (at != std::string::npos) argument.replace(at, name.size(), value);
    }
  }
  return made;
}

void subtract(std::uint64_t& from, std::uint64_t what) { from -= std::min(from, what); }
void subtract(observe::attempt_record& from, const observe::attempt_record& what) {
  subtract(from.attempts, what.attempts);
  subtract(from.commits, what.commits);
  for (auto& [cause, count] : from.aborts) {
    for (const auto& [other, its] : what.aborts) {
      if (other == cause) subtract(count, its);
    }
  }
}

/// The points of one curve.
class program_curve {
 public:
  program_curve(const experiment& of, const variant& curve, const std::string& folder, std::uint64_t seed,
                const sim::machine& machine)
      : of_(of),
        whole_(*of.whole_program),
        curve_(curve),
        file_(file_of(whole_, curve, folder)),
        seed_(seed),
        machine_(machine),
        symbols_(file_) {}

  /// All seeds of a point; nothing if a signal has asked to stop.
  std::optional<observe::point> measure(std::size_t place) {
    observe::point made = new_point(place);
    try {
      if (whole_.only_operations && !set_up_) set_up_ = measure_set_up();
      add_seeds(made);
    } catch (const std::runtime_error& error) {
      if (stop_on_signal::asked()) return std::nullopt;
      made.faults.push_back(
          fmt::format("{}, {} threads: {}", curve_.name, made.threads, symbols::with_places(symbols_, error.what())));
    }
    return made;
  }

 private:
  observe::point new_point(std::size_t place) const {
    const bool threads_vary = of_.along.key == experiments::by_threads;
    observe::point made;
    made.workload = threads_vary ? of_.workload : of_.along.names[place];
    made.params = {{"machine", of_.machine}, {whole_.operations_key, of_.operations}};
    for (const auto& [key, value] : whole_.settings) made.params[key] = value;
    made.threads = threads_vary ? static_cast<unsigned>(of_.along.positions[place]) : curve_.threads;
    made.placement = "none";
    made.subject = curve_.subject;
    made.kind = curve_.peer ? observe::subject_kind::peer : observe::subject_kind::ours;
    made.metric = "throughput";
    made.unit = "operations/s";
    return made;
  }

  /// Runs it once. `result` becomes what the driver wrote.
  sim::image_result run(const program_run& one, std::string& result) const {
    const run_folder folder(whole_.run_folder);
    sim::image_result seen = sim::run_image({.path = file_,
                                             .arguments = arguments_of(whole_, one, folder.path()),
                                             .model = machine_.model,
                                             .seed = one.seed,
                                             .locks = curve_.locks});
    if (seen.status != 0) {
      throw sim::image_error(fmt::format("exit status {}: {}", seen.status, seen.last_message()));
    }
    result = whole_file(folder.path() + "/result");
    return seen;
  }

  void add_seeds(observe::point& point) const {
    std::vector<driver_output> outputs;
    std::uint64_t hash = 0;
    for (unsigned i = 0; i < whole_.seeds; ++i) {
      std::string result;
      const sim::image_result seen = run({point.workload, point.threads, of_.operations, seed_ + i}, result);
      const driver_output output = experiments::parse_driver_output(result);
      add_attempts(point, seen, static_cast<std::uint64_t>(output.elapsed_ns * machine_.model.core_mhz / 1e3));
      if (i == 0) {
        point.abort_places = abort_places(symbols_, seen);
        point.abort_ends = abort_ends(symbols_, seen);
      }
      hash = workloads::mix(hash) + seen.number(sim::number_record::end_hash);
      outputs.push_back(output);
    }
    experiments::add_runs(point, outputs);
    if (set_up_ && point.attempts) {
      subtract(*point.attempts, *set_up_);
      point.cycles.reset();  // they are those of the whole program
    }
    point.end_hash = fmt::format("{:016x}", hash);
  }

  /// The attempts of runs without operations, one for each seed.
  observe::attempt_record measure_set_up() const {
    observe::point sum;
    for (unsigned i = 0; i < whole_.seeds; ++i) {
      std::string ignored;
      add_attempts(sum, run({of_.workload, 1, 0, seed_ + i}, ignored), 0);
    }
    return sum.attempts.value_or(observe::attempt_record());
  }

  const experiment& of_;
  const experiments::program& whole_;
  const variant& curve_;
  std::string file_;
  std::uint64_t seed_;
  const sim::machine& machine_;
  symbols::module_symbols symbols_;
  std::optional<observe::attempt_record> set_up_;
};

}  // namespace

std::string folder_of_programs() {
  std::error_code error;
  const std::filesystem::path self =
      std::filesystem::read_symlink("/proc/self/exe", error);  // build/release/bin/txsync
  return self.parent_path().parent_path().parent_path().string();
}

std::string complaint_of_programs(const experiment& of, const std::string& folder) {
  if (!of.whole_program) return {};
  const experiments::program& whole = *of.whole_program;
  const std::string advice = fmt::format("; {} builds it, and --programs names the folder", whole.built_by);
  for (const variant& curve : of.variants) {
    const std::string file = file_of(whole, curve, folder);
    std::error_code error;
    if (!std::filesystem::exists(file, error)) return fmt::format("there is no {}{}", file, advice);
    const std::string complaint = sim::complaint_of_program(file);
    if (!complaint.empty()) return fmt::format("{} {}{}", file, complaint, advice);
  }
  return {};
}

lab_result run_program_experiment(const experiment& of, const std::string& folder, std::uint64_t seed) {
  TXSYNC_ASSERT(complaint_of_programs(of, folder).empty(), "the files of the experiment's programs are there");
  const stop_on_signal guard;
  const sim::machine machine = machine_of(of);
  lab_result made{&of, machine, experiments::results(of, machine.model.core_mhz), {}, {}};
  for (std::size_t curve = 0; curve < of.variants.size() && !made.interrupted; ++curve) {
    base::print(stderr, "txsync lab: {}, {}\n", of.id, of.variants[curve].name);
    program_curve runs(of, of.variants[curve], folder, seed, machine);
    for (std::size_t place = 0; place < of.along.positions.size(); ++place) {
      std::optional<observe::point> point = runs.measure(place);
      made.interrupted = stop_on_signal::asked();
      if (!point || made.interrupted) break;
      for (const std::string& fault : point->faults) made.faults.push_back(of.id + ": " + fault);
      made.results.points[curve][place] = std::move(point);
    }
  }
  made.comparisons = experiments::compare(of, made.results);
  return made;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate

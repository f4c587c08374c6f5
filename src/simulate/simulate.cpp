// SPDX-License-Identifier: Apache-2.0
// The runs of `txsync sim`: one process of the workloads' image for each cell and repetition.
#include "simulate/simulate.hpp"

#include <fmt/core.h>

#include "base/stop_on_signal.hpp"
#include "base/words.hpp"
#include "measure/describe.hpp"
#include "symbols/code_place.hpp"
#include "symbols/symbols.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {
using base::command_line;
using base::hexadecimal;
using base::stop_on_signal;
using base::words;

namespace {

std::vector<std::string> arguments_of(const measure::bench_request& request, const workloads::subject& lock,
                                      unsigned threads, std::uint64_t seed) {
  workloads::plan how = request.plan;
  how.threads = threads;
  how.seed = seed;
  return image_arguments(*request.workload, lock.name, how, request.values);
}

/// The command that runs one cell alone, from that seed on.
std::string cell_command(const sim_request& request, const workloads::subject& lock, unsigned threads,
                         std::uint64_t seed, unsigned repeat) {
  const measure::bench_request& bench = request.bench;
  const workloads::plan& plan = bench.plan;
  words line{"txsync", "sim", bench.workload->name, "--machine", request.machine_word};
  const auto add = [&line](const char* option, const std::string& value) { line.insert(line.end(), {option, value}); };
  add("--lock", lock.name);
  add("--threads", std::to_string(threads));
  add("--place", bench.placement);
  constexpr std::uint64_t ns_in_ms = 1'000'000;
  plan.operations != 0 ? add("--operations", std::to_string(plan.operations))
                       : add("--duration", std::to_string(plan.duration_ns / ns_in_ms));
  if (repeat != 1) add("--repeat", std::to_string(repeat));
  add("--seed", std::to_string(seed));
  if (request.slack_cycles != 0) add("--slack", std::to_string(request.slack_cycles));
  if (request.uncharged_set_up) line.emplace_back("--uncharged");
  if (request.oracle) line.emplace_back("--check");
  const observe::json values = measure::named_values(*bench.workload, bench.values);
  for (const auto& [name, value] : values.items()) {
    line.push_back(name + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
  }
  return command_line(line);
}

class simulation {
 public:
  explicit simulation(const sim_request& request) : request_(request), symbols_(request.image) {}

  measure::bench_result run() {
    const stop_on_signal guard;
    const measure::bench_request& bench = request_.bench;
    result_.planned = static_cast<unsigned>(bench.threads.size() * bench.locks.size()) * bench.repeat;
    for (const unsigned threads : bench.threads) {
      for (const workloads::subject* lock : bench.locks) {
        if (stop_on_signal::asked()) break;
        run_cell(*lock, threads);
      }
    }
    result_.interrupted = stop_on_signal::asked();
    return std::move(result_);
  }

 private:
  observe::point new_point(const workloads::subject& lock, unsigned threads) const {
    const measure::bench_request& bench = request_.bench;
    observe::point made;
    made.workload = bench.workload->name;
    made.params = measure::named_values(*bench.workload, bench.values);
    made.preset = bench.preset;
    made.threads = threads;
    made.placement = bench.placement;
    made.subject = lock.name;
    made.waiting = measure::waiting_word(lock.how);
    made.speculates = lock.speculates;
    made.metric = "throughput";
    made.unit = std::string(bench.workload->operation) + "/s";
    return made;
  }

  sim::image_request image_request_of(const workloads::subject& lock, unsigned threads, std::uint64_t seed) const {
    return {.path = request_.image,
            .arguments = arguments_of(request_.bench, lock, threads, seed),
            .model = request_.machine.model,
            .seed = seed,
            .slack_cycles = request_.slack_cycles,
            .uncharged_set_up = request_.uncharged_set_up,
            .oracle = request_.oracle};
  }

  void run_cell(const workloads::subject& lock, unsigned threads) {
    observe::point point = new_point(lock, threads);
    if (!request_.machine_word.empty())
      point.key = cell_command(request_, lock, threads, request_.bench.plan.seed, request_.bench.repeat);
    for (unsigned round = 0; round < request_.bench.repeat && !stop_on_signal::asked(); ++round) {
      const std::uint64_t seed = request_.bench.plan.seed + round;
      try {
        const sim::image_result seen = sim::run_image(image_request_of(lock, threads, seed));
        ++result_.runs;
        if (!add(point, seen)) {
          point.faults.back() += again(lock, threads, seed);
          break;
        }
        if (round == 0) {
          point.abort_places = abort_places(symbols_, seen);
          point.abort_ends = abort_ends(symbols_, seen);
        }
      } catch (const sim::image_error& error) {
        if (stop_on_signal::asked()) break;
        point.faults.push_back(fmt::format("repetition {}: {}{}", round + 1,
                                           symbols::with_places(symbols_, error.what()), again(lock, threads, seed)));
        break;
      }
    }
    if (point.values.empty() && point.faults.empty()) return;
    result_.points.push_back(std::move(point));
  }

  /// To be appended to a failure's text. Machines of experiments have no name that a user could ask for.
  std::string again(const workloads::subject& lock, unsigned threads, std::uint64_t seed) const {
    return request_.machine_word.empty() ? "" : "; repeat it by: " + cell_command(request_, lock, threads, seed, 1);
  }

  bool add(observe::point& point, const sim::image_result& seen) const {
    const std::uint64_t elapsed = seen.program_number(sim::program_record::elapsed_ns);
    if (seen.status != 0 || elapsed == 0) {
      std::string said = seen.messages.substr(0, seen.messages.find('\n'));
      if (said.empty()) said = fmt::format("the image answered {}", seen.status);
      point.faults.push_back(std::move(said));
      return false;
    }
    const auto operations = static_cast<double>(seen.program_number(sim::program_record::operations));
    point.values.push_back(operations * 1e9 / static_cast<double>(elapsed));
    point.fewest.push_back(seen.program_number(sim::program_record::fewest));
    point.most.push_back(seen.program_number(sim::program_record::most));
    add_attempts(point, seen, elapsed * request_.machine.model.core_mhz / 1000);
    point.end_hash = hexadecimal(seen.number(sim::number_record::end_hash)).substr(2);
    return true;
  }

  const sim_request& request_;
  symbols::module_symbols symbols_;
  measure::bench_result result_;
};

}  // namespace

measure::bench_result simulate(const sim_request& request) { return simulation(request).run(); }

words image_arguments(const workloads::workload& which, const std::string& lock, const workloads::plan& how,
                      const workloads::parameters& values) {
  words all{which.name, lock, std::to_string(how.threads)};
  for (const std::uint64_t number : {static_cast<std::uint64_t>(how.placement), std::uint64_t{how.socket},
                                     how.duration_ns, how.operations, how.run_in_ns, how.seed, how.sample_every}) {
    all.push_back(std::to_string(number));
  }
  for (unsigned i = 0; i < which.keys.size(); ++i) all.push_back(std::to_string(values[i]));
  return all;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate

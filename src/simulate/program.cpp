// SPDX-License-Identifier: Apache-2.0
// `txsync sim -- BINARY`: a program that txsync-c++ has built, once, on a simulated machine.
#include <algorithm>
#include <csignal>
#include <cstring>

#include <fmt/core.h>

#include "base/print.hpp"
#include "base/stop_on_signal.hpp"
#include "base/words.hpp"
#include "launch/executable.hpp"
#include "observe/document/block_paths.hpp"
#include "policy/simulated.hpp"
#include "simulate/simulate.hpp"
#include "symbols/code_place.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {
using base::command_line;
using base::hexadecimal;
using base::stop_on_signal;
using base::words;

namespace {

constexpr int failed = 1;
constexpr int not_runnable = 126;
constexpr int by_signal = 128;

std::string file_name(const std::string& path) {
  const std::size_t folder = path.rfind('/');
  return folder == std::string::npos ? path : path.substr(folder + 1);
}

/// The command that repeats the run.
std::string repeating(const program_request& request) {
  words line{"txsync", "sim", "--machine", request.machine_word, "--seed", std::to_string(request.seed)};
  if (request.slack_cycles != 0) line.insert(line.end(), {"--slack", std::to_string(request.slack_cycles)});
  if (request.limit_ms != 0) line.insert(line.end(), {"--limit", std::to_string(request.limit_ms)});
  if (request.oracle) line.emplace_back("--check");
  if (request.elides) line.emplace_back("--elide");
  if (!request.policy_word.empty()) line.insert(line.end(), {"--policy", request.policy_word});
  line.emplace_back("--");
  line.insert(line.end(), request.command.begin(), request.command.end());
  return command_line(line);
}

sim::image_request image_request_of(const program_request& request, const std::string& path) {
  return {.path = path,
          .arguments = {request.command.begin() + 1, request.command.end()},
          .model = request.machine.model,
          .seed = request.seed,
          .slack_cycles = request.slack_cycles,
          .oracle = request.oracle,
          .limit_us = request.limit_ms * 1'000,
          .elides = request.elides,
          .locks = request.policy ? policy::lock_policies_to_simulate(*request.policy) : "",
          .sites = request.policy ? policy::site_policies_to_simulate(*request.policy) : "",
          .failure_is_a_result = true,
          .keeps_error_output = true};
}

std::string end_of(const sim::image_result& seen) {
  if (seen.signal == 0) return fmt::format("exit status {}", seen.status);
  return fmt::format("ended by signal {} ({})", seen.signal, strsignal(seen.signal));
}

bool asks_for_attempts(const policy::policy_set& policies) {
  return policies.any(&policy::packed::wants_elision) || policies.any(&policy::packed::wants_warm_up);
}

/// The point without the run's results.
observe::point new_point(const program_request& request) {
  observe::point made;
  made.workload = request.command.front();
  words arguments(request.command.begin() + 1, request.command.end());
  if (!arguments.empty()) made.params["args"] = command_line(arguments);
  made.params["elide"] = request.elides ? "yes" : "no";
  if (!request.policy_word.empty()) made.params["policy"] = request.policy_word;
  made.placement = "none";
  made.subject = file_name(request.command.front());
  made.speculates = request.elides || (request.policy && asks_for_attempts(*request.policy));
  made.metric = "simulated time";
  made.unit = "s";
  made.way = observe::better::lower;
  made.key = repeating(request);
  return made;
}

void add_run(observe::point& point, const sim::image_result& seen, const program_request& request,
             const symbols::module_symbols& symbols) {
  const std::uint64_t cycles = seen.number(sim::number_record::time_cycles);
  point.threads = static_cast<unsigned>(std::max<std::uint64_t>(1, seen.number(sim::number_record::threads)));
  point.values = {static_cast<double>(cycles) / (request.machine.model.core_mhz * 1e6)};
  add_attempts(point, seen, cycles);
  add_sites(point, seen);
  point.abort_places = abort_places(symbols, seen);
  point.abort_ends = abort_ends(symbols, seen);
  point.end_hash = hexadecimal(seen.number(sim::number_record::end_hash)).substr(2);
}

void print(const program_request& request, const observe::point& point, const sim::image_result& seen) {
  const std::string& name = request.command.front();
  for (const std::string& fault : point.faults) {
    base::print(stderr, "\ntxsync sim: {}: {}\n", name, fault);
  }
  if (!point.values.empty()) {
    base::print(stderr,
                "\ntxsync sim: {}: {:.6g} ms simulated on {}, {}; {} accesses to memory, up to {} thread{} at a time, "
                "end hash {}\n",
                name, point.values.front() * 1e3, request.machine.name, end_of(seen),
                seen.number(sim::number_record::accesses), point.threads, point.threads == 1 ? "" : "s",
                point.end_hash);
    measure::bench_result result;
    result.points = {point};
    print_attempts(stderr, result);
    observe::print_block_paths(stderr, "", 0, observe::rows_of(point.sites, std::identity{}), point.sites.size());
    print_abort_places(stderr, result);
  }
  base::print(stderr, "repeat it by: {}\n", point.key);
}

}  // namespace

std::string simulated_program(const words& command) {
  const std::string path = launch::find_program(command.front());
  const std::string complaint = sim::complaint_of_program(path);
  if (!complaint.empty()) throw launch::cannot_start(not_runnable, path + " " + complaint);
  return path;
}

bool is_cut_short(const sim::image_result& seen) {
  return stop_on_signal::handles(seen.signal) || seen.was_interrupted();
}

int run_program(observe::document& into, const program_request& request) {
  std::string path;
  try {
    path = simulated_program(request.command);
  } catch (const launch::cannot_start& error) {
    base::print(stderr, "txsync sim: {}\n", error.what());
    return error.status;
  }
  const stop_on_signal guard;
  observe::point point = new_point(request);
  sim::image_result seen;
  try {
    seen = sim::run_image(image_request_of(request, path));
    if (is_cut_short(seen) && stop_on_signal::asked_soon())
      throw sim::image_error(seen.failure.empty() ? "interrupted" : seen.failure);
  } catch (const sim::image_error& error) {
    into.interrupted = stop_on_signal::asked();
    base::print(stderr, "txsync sim: {}\n", symbols::with_places(symbols::module_symbols(path), error.what()));
    return into.interrupted ? failed : not_runnable;
  }
  const symbols::module_symbols symbols(path);
  if (!seen.failure.empty()) {
    point.faults = {symbols::with_places(symbols, seen.failure)};
  } else if (seen.signal != 0) {
    point.faults = {end_of(seen)};
  } else {
    add_run(point, seen, request, symbols);
  }
  print(request, point, seen);
  observe::json& told = into.more["program"] = {{"status", seen.status}};
  if (seen.signal != 0) told = {{"status", by_signal + seen.signal}, {"signal", seen.signal}};
  if (!point.values.empty()) told["accesses"] = seen.number(sim::number_record::accesses);
  const bool has_failed = !seen.failure.empty();
  into.points.push_back(std::move(point));
  if (has_failed) return failed;
  return seen.signal != 0 ? by_signal + seen.signal : seen.status;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate

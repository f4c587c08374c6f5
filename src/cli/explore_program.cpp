// SPDX-License-Identifier: Apache-2.0
// Schedules of a program that txsync-c++ has built: each is a run of it as a whole, in a process of its own, that has
// to end with exit status 0.
#include <chrono>
#include <cstring>

#include "cli/code_place.hpp"
#include "cli/explore.hpp"
#include "cli/sim.hpp"
#include "cli/stop_on_signal.hpp"
#include "launch/executable.hpp"
#include "sim/models/machine_file.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {
namespace {

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

/// How many choices a schedule of it has: those of one without change points.
std::uint64_t choices_of(sim::image_request request) {
  request.order = sim::schedule_order::delay_bounded;
  request.seed = 0;
  request.choices = std::uint64_t{1} << 40;  // so that none is drawn in its time
  constexpr std::uint64_t least = 16;
  return std::max(least, sim::run_image(request).number("choices"));
}

std::string again_by(const program_exploration& what, const schedule_key& key) {
  words line{"txsync", "replay", key.text()};
  if (what.most_steps != default_program_steps) line.insert(line.end(), {"--steps", std::to_string(what.most_steps)});
  line.emplace_back("--");
  line.insert(line.end(), what.command.begin(), what.command.end());
  return command_line(line);
}

}  // namespace

program_exploration program_to_explore(const words& command) {
  try {
    const std::string path = simulated_program(command);
    return {.command = command, .name = path.substr(path.rfind('/') + 1), .path = path};
  } catch (const launch::cannot_start& error) {
    throw bad_input(error.what());
  }
}

sim::image_request program_schedules(const program_exploration& what, const schedule_kind& kind) {
  sim::image_request request;
  try {
    request.model = sim::load_machine("ideal").model;
  } catch (const sim::machine_error& error) {
    throw bad_input(error.what());
  }
  request.path = what.path;
  request.arguments = {what.command.begin() + 1, what.command.end()};
  request.order = kind.order;
  request.store_buffers = kind.store_buffers;
  request.probes = kind.probes;
  request.most_steps = what.most_steps;
  request.choices = 1;
  request.discards_output = true;
  request.failure_is_a_result = true;
  const bool has_points =
      kind.order == sim::schedule_order::priorities || kind.order == sim::schedule_order::delay_bounded;
  if (has_points) request.choices = choices_of(request);
  return request;
}

std::string complaint_of_schedule(const sim::image_result& seen, const std::string& path) {
  if (seen.failure.empty() && seen.signal == 0 && seen.status == 0) return "";
  std::string complaint = "exit status " + std::to_string(seen.status);
  if (!seen.failure.empty() || seen.signal != 0) complaint = complaint_of(seen, path);
  const std::string said = last_line(seen.messages);
  return said.empty() ? complaint : complaint + "; it said: " + said;
}

exploration_result explore_program(const program_exploration& what, const std::vector<schedule_kind>& kinds,
                                   std::uint64_t seed, std::uint64_t schedules) {
  const auto began = std::chrono::steady_clock::now();
  std::vector<sim::image_request> requests;
  words orders;
  for (const schedule_kind& kind : kinds) {
    requests.push_back(program_schedules(what, kind));
    orders.push_back(kind.text());
  }
  exploration_result result{.subject = what.name, .order = join(orders), .key = {what.name, kinds.front(), seed}};
  while (result.schedules != schedules && !result.failing && !stop_on_signal::asked()) {
    const std::size_t turn = result.schedules % kinds.size();
    result.key.kind = kinds[turn];
    result.key.seed = requests[turn].seed = seed + result.schedules++;
    result.complaint = complaint_of_schedule(sim::run_image(requests[turn]), what.path);
    result.failing = !result.complaint.empty();
  }
  result.right = !result.failing;
  if (result.failing) result.again = again_by(what, result.key);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return result;
}

}  // namespace txsync::inline TXSYNC_BACKEND::cli

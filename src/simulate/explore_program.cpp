// SPDX-License-Identifier: Apache-2.0
// Schedules of a program that txsync-c++ has built. Each is a complete run, in a process of its own, which has to end
// with exit status 0.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include <txsync/machine/assert.hpp>

#include "base/bad_input.hpp"
#include "base/stop_on_signal.hpp"
#include "base/words.hpp"
#include "launch/executable.hpp"
#include "simulate/explore.hpp"
#include "simulate/simulate.hpp"
#include "symbols/code_place.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {
using base::bad_input;
using base::command_line;
using base::stop_on_signal;
using base::words;

std::string again_by(const program_exploration& what, const schedule_key& key) {
  words line{"txsync", "replay", key.text()};
  if (what.machine_word) line.insert(line.end(), {"--machine", *what.machine_word});
  if (!what.has_default_steps) line.insert(line.end(), {"--steps", std::to_string(what.max_steps)});
  line.emplace_back("--");
  line.insert(line.end(), what.command.begin(), what.command.end());
  return command_line(line);
}

program_exploration program_to_explore(const words& command, const std::optional<std::string>& machine_word) {
  try {
    const std::string path = simulated_program(command);
    return {.command = command,
            .name = path.substr(path.rfind('/') + 1),
            .path = path,
            .machine_word = machine_word,
            .machine = machine_of_programs(machine_word)};
  } catch (const launch::cannot_start& error) {
    throw bad_input(error.what());
  }
}

namespace {

sim::image_request request_of(const program_exploration& what) {
  sim::image_request request;
  request.model = what.machine.model;
  request.path = what.path;
  request.arguments = {what.command.begin() + 1, what.command.end()};
  request.max_steps = what.max_steps;
  request.runs_alone = true;
  request.failure_is_a_result = true;
  return request;
}

}  // namespace

void look_at_program(program_exploration& what, exploration_plan& plan, bool adds_probes) {
  sim::image_request request = request_of(what);
  request.order = sim::schedule_order::random;
  request.choices = 1;
  request.max_steps = sim::profile_runs::max_steps_of_first;
  const sim::image_result seen = whole_run(request);
  const std::uint64_t steps = seen.number(sim::number_record::steps);
  if (what.has_default_steps) what.max_steps = std::max(min_default_steps, sim::profile_runs::steps_for_one * steps);
  plan.steps = what.max_steps;
  if (!adds_probes || seen.number(sim::number_record::attempts_begun) == 0) return;
  for (schedule_kind& kind : plan.kinds) {
    if (kind.order != sim::schedule_order::systematic) kind.probes |= sim::spurious_aborts | sim::tight_capacity;
  }
}

program_profile profile_of_program(const program_exploration& what) { return profile_of(request_of(what)); }

sim::image_request program_schedule(const program_exploration& what, const schedule_kind& kind, std::uint64_t seed,
                                    const program_profile& profile) {
  sim::image_request request = request_of(what);
  request.order = kind.order;
  request.store_buffers = kind.store_buffers;
  request.probes = kind.probes;
  request.finds_races = kind.races;
  request.seed = seed;
  request.learns = sim::has_all_steps(seed);
  const schedule_profile& expected = request.learns ? profile.with_all_steps : profile.usual;
  request.choices = expected.choices;
  if (kind.order == sim::schedule_order::uniform_walk) request.word_uses = expected.word_uses;
  request.shared_codes = profile.shared_codes;
  return request;
}

namespace {

sim::image_request own_schedule(const program_exploration& what, const schedule_key& key) {
  if (key.kind.order == sim::schedule_order::systematic) throw bad_input("the order systematic is for whole programs");
  sim::image_request request = request_of(what);
  request.order = key.kind.order;
  request.seed = key.seed;
  request.repeats = key.test;
  request.max_steps = 0;  // the exploration has its own
  request.captures_output = true;
  return request;
}

}  // namespace

sim::image_request repeated_schedule(const schedule_key& key, const words& command,
                                     const std::optional<std::string>& machine_word, std::uint64_t max_steps) {
  program_exploration what = program_to_explore(command, machine_word);
  // A program that explores itself prints FILE:LINE, the place of the exploration.
  const bool is_own = key.test != what.name && key.test.find(':') != std::string::npos;
  if (key.test != what.name && !is_own)
    throw bad_input(fmt::format("the key belongs to {}, but the program is {}", key.test, what.name));
  if (is_own && max_steps != 0) throw bad_input("--steps is for keys of whole programs");
  if (is_own) return own_schedule(what, key);
  what.has_default_steps = max_steps == 0;
  what.max_steps = max_steps;
  exploration_plan plan{.kinds = {key.kind}};
  look_at_program(what, plan, false);
  check_systematic(key.kind);
  if (key.kind.order == sim::schedule_order::systematic) return systematic_schedule(what, key.kind, key.seed);
  return program_schedule(what, key.kind, key.seed, profile_of_program(what));
}

void check_that_it_ran(const sim::image_result& seen, const sim::image_request& request) {
  if (request.repeats.empty() || !seen.steps.empty() || seen.status == sim::failure_status) return;
  throw bad_input(
      fmt::format("{} has not made the exploration {}; allowed: a key that it has printed, and its arguments",
                  request.path, request.repeats));
}

std::string complaint_of_schedule(const sim::image_result& seen, const std::string& path) {
  if (seen.failure.empty() && seen.signal == 0 && seen.status == 0) return "";
  std::string complaint = fmt::format("exit status {}", seen.status);
  if (!seen.failure.empty() || seen.signal != 0) complaint = complaint_of(seen, path);
  const std::string said = seen.last_message();
  return said.empty() ? complaint : said + "; " + complaint;
}

namespace {

/// Schedules that run side by side, each on a processor of its own. The result is as if they ran one after the other:
/// the first that fails.
class schedules_at_once {
 public:
  schedules_at_once(const program_exploration& what, const std::vector<schedule_kind>& kinds, std::uint64_t seed,
                    std::uint64_t count)
      : what_(what), kinds_(kinds), profile_(profile_of_program(what)), seed_(seed), until_(count) {}

  void run() {
    std::vector<std::thread> workers(std::max(1U, std::thread::hardware_concurrency()));
    for (std::thread& one : workers) one = std::thread([this] { work(); });
    for (std::thread& one : workers) one.join();
    if (error_) std::rethrow_exception(error_);
  }

  /// Runs further schedules until the time is over. From then on, the failing one is that with the fewest switches.
  /// Requires: one has failed.
  void shorten(std::chrono::steady_clock::time_point until) {
    TXSYNC_ASSERT(!complaint_.empty(), "a schedule that is made shorter has failed");
    first_ = until_.load();
    try {
      sim::image_result best = run_one(*first_);
      for (std::uint64_t mine = *first_ + 1; std::chrono::steady_clock::now() < until && !stop_on_signal::asked();
           ++mine) {
        sim::image_result seen = run_one(mine);
        const std::string complaint = complaint_of_schedule(seen, what_.path);
        if (complaint.empty() || is_cut_short(seen) || switches_of(seen) >= switches_of(best)) continue;
        until_ = mine;
        complaint_ = complaint;
        best = std::move(seen);
      }
    } catch (const sim::image_error&) {
      if (!stop_on_signal::asked_soon()) throw;  // else the failure that was found stays
    }
  }

  std::uint64_t ran() const { return complaint_.empty() ? ran_.load() : first_.value_or(until_) + 1; }
  /// The number of the first that failed. It has no meaning if complaint() is empty.
  std::uint64_t failing() const { return until_; }
  const std::string& complaint() const { return complaint_; }
  std::uint64_t races_unseen() const { return races_unseen_; }
  bool has_own_explorations() const { return has_own_explorations_; }
  /// Where a schedule was that a signal has ended.
  const std::string& ended_in() const { return ended_in_; }

 private:
  static std::uint64_t switches_of(const sim::image_result& seen) { return seen.number(sim::number_record::switches); }

  sim::image_result run_one(std::uint64_t number) const {
    sim::image_request request = program_schedule(what_, kinds_[number % kinds_.size()], seed_ + number, profile_);
    request.stop = stop_on_signal::asked;
    return sim::run_image(request);
  }

  void work() {
    try {
      for (std::uint64_t mine = next_++; mine < until_ && !stop_on_signal::asked(); mine = next_++) {
        const sim::image_result seen = run_one(mine);
        const std::string complaint = complaint_of_schedule(seen, what_.path);
        if (is_cut_short(seen)) throw sim::image_error(complaint);
        ++ran_;
        races_unseen_ += seen.number(sim::number_record::races_unseen);
        if (seen.number(sim::number_record::own_explorations) != 0) has_own_explorations_ = true;
        const std::lock_guard guard(end_);
        if (complaint.empty() || mine >= until_) continue;
        until_ = mine;
        complaint_ = complaint;
      }
    } catch (const sim::image_error& error) {
      const bool is_asked = stop_on_signal::asked_soon();
      const std::lock_guard guard(end_);
      if (is_asked) {
        const std::string_view where = error.what();
        constexpr std::string_view begin = sim::interrupted;
        if (const std::size_t at = where.find(begin); at != std::string_view::npos)
          ended_in_ = where.substr(at + begin.size());
        return;
      }
      if (!error_) error_ = std::current_exception();
      until_ = 0;
    }
  }

  const program_exploration& what_;
  const std::vector<schedule_kind>& kinds_;
  program_profile profile_;
  std::uint64_t seed_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> ran_{0};
  std::atomic<std::uint64_t> races_unseen_{0};
  std::atomic<bool> has_own_explorations_{false};
  std::mutex end_;  ///< guards what follows, for writing
  std::atomic<std::uint64_t> until_;
  std::optional<std::uint64_t> first_;  ///< that failed, once shorten() has looked for another one
  std::string complaint_;
  std::string ended_in_;
  std::exception_ptr error_;
};

}  // namespace

exploration_result explore_program(const program_exploration& what, const exploration_plan& plan, std::uint64_t seed) {
  if (plan.kinds.front().order == sim::schedule_order::systematic)
    return explore_systematically(what, plan.kinds.front(), plan.schedules);
  const auto began = std::chrono::steady_clock::now();
  const std::vector<schedule_kind>& kinds = plan.kinds;
  schedules_at_once all(what, kinds, seed, plan.schedules);
  all.run();
  if (plan.shorten_s != 0 && !all.complaint().empty())
    all.shorten(std::chrono::steady_clock::now() + std::chrono::seconds(plan.shorten_s));
  exploration_result result{.subject = what.name, .order = plan.text(), .key = {}};
  result.schedules = all.ran();
  result.complaint = all.complaint();
  result.ended_in = all.ended_in();
  result.races_unseen = all.races_unseen();
  result.has_own_explorations = all.has_own_explorations();
  result.failing = !result.complaint.empty();
  result.right = !result.failing;
  if (result.failing) {
    result.key = {what.name, kinds[all.failing() % kinds.size()], seed + all.failing()};
    result.again = again_by(what, result.key);
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return result;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate

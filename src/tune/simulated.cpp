// SPDX-License-Identifier: Apache-2.0
#include "tune/simulated.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/core.h>

#include <txsync/machine/attempt.hpp>

#include "observe/document/recorded_sites.hpp"
#include "policy/simulated.hpp"
#include "sim/host/image.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tune {
namespace {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What ends this thread's run. image_request::stop takes no argument.
struct end_of_run {
  double deadline = 0;  ///< 0: none
  bool (*stop)() noexcept = nullptr;
  bool is_late() const noexcept { return deadline != 0 && now_seconds() > deadline; }
};
thread_local end_of_run this_run;

bool is_to_end() noexcept { return this_run.stop() || this_run.is_late(); }

sim::image_request request_of(const simulated_program& program, const std::optional<policy::policy_set>& policy) {
  return {.path = program.path,
          .arguments = program.arguments,
          .model = program.model,
          .seed = program.seed,
          .locks = policy ? policy::lock_policies_to_simulate(*policy) : "",
          .sites = policy ? policy::site_policies_to_simulate(*policy) : "",
          .failure_is_a_result = true,
          .runs_alone = true,
          .captures_output = true,
          .stop = is_to_end};
}

/// Why a run that ended has no value; empty if it has one.
std::string failure_of(const sim::image_result& run) {
  if (!run.failure.empty()) return run.failure;
  if (run.signal != 0) return fmt::format("it was ended by signal {}; {}", run.signal, last_lines(run.messages));
  if (run.status != 0) return fmt::format("its exit status was {}; {}", run.status, last_lines(run.messages));
  return {};
}

}  // namespace

offered_attempts offered_by(const sim::machine_model& model) {
  const bool attempts = model.htm_attempts != 0;
  // As machine::htm() answers on the simulated machine.
  return {.attempts = attempts,
          .always_abort =
              attempts && (model.htm_always_abort != 0 || model.htm_nesting > machine::detail::warm_extra_depth)};
}

simulated_trial::simulated_trial(simulated_program program, std::optional<metric> number,
                                 const std::vector<std::string>& candidates, bool (*stop)() noexcept)
    : program_(std::move(program)),
      number_(std::move(number)),
      policies_(candidates, offered_by(program_.model)),
      stop_(stop) {}

measured simulated_trial::run(const configuration& config, double timeout_seconds) {
  return run(policies_.of(config), timeout_seconds);
}

measured simulated_trial::run(const std::optional<policy::policy_set>& policy, double timeout_seconds) {
  measured result;
  sim::image_result run;
  const double start = now_seconds();
  this_run = {timeout_seconds > 0 ? start + timeout_seconds : 0, stop_};
  try {
    run = sim::run_image(request_of(program_, policy));
    result.failure = failure_of(run);
  } catch (const sim::image_error& error) {
    result.failure = this_run.is_late() ? "it took too long and was ended" : error.what();
  }
  ++program_.seed;
  result.seconds = now_seconds() - start;
  if (!result.failure.empty()) return result;
  if (number_) {
    metric::found number = number_->in(run.messages);
    result.value = number.value;
    result.failure = std::move(number.failure);
  } else {
    result.value = static_cast<double>(run.number(sim::number_record::time_cycles)) / (program_.model.core_mhz * 1e6);
  }
  threads_ = std::max(threads_, static_cast<unsigned>(run.number(sim::number_record::threads)));
  for (observe::site_record& site : observe::recorded_sites(run.records)) {
    if (site.heeded != 0) site.kind = "named";
    result.sites.push_back(policies_.seen(site, policy));
  }
  return result;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune

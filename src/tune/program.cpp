// SPDX-License-Identifier: Apache-2.0
#include "tune/program.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "launch/program_input.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tune {
program_trial::program_trial(std::vector<std::string> command, std::optional<metric> number,
                             const std::vector<std::string>& candidates, std::optional<std::string> input)
    : command_(std::move(command)),
      number_(std::move(number)),
      input_(std::move(input)),
      policies_(candidates, offered_here()),
      doubts_(candidates.front(), number_.has_value()) {
  launch::check_takes_library(launch::find_program(command_.front()));
}

measured program_trial::run(const configuration& config, double timeout_seconds) {
  const std::optional<policy::policy_set> policy = policy_of(config);
  launch::options options;
  options.command = command_;
  options.preload = policy.has_value();
  if (policy) options.policies = *policy;
  options.capture = true;
  options.input = input_;
  options.end_family = true;  // or it would run beside the later rounds
  if (timeout_seconds > 0) options.limit_seconds = timeout_seconds;
  const launch::result ended = launcher_.launch(options);
  interrupted_ = interrupted_ || ended.interrupted != 0;
  threads_ = std::max(threads_, static_cast<unsigned>(ended.threads));
  wall_s_ += ended.wall_s;
  own_s_ += ended.user_s + ended.system_s;
  others_s_ += ended.others_s;
  measured result = judged(ended);
  if (ended.interrupted == 0) {
    doubts_.add({name_of(config), ended.wall_s, ended.exit_status, ended.output, ended.output_cut, ended.timed_out,
                 ended.read_in_vain, ended.without_library, ended.without_waits});
  }
  if (!ended.priority_ignored_at.empty()) {
    result.unfit = "a thread with a real-time priority waited at " + ended.priority_ignored_at.front() +
                   ", where this policy's lock ignores priorities";
  }
  for (const observe::site_record& site : ended.sites) result.sites.push_back(policies_.seen(site, policy));
  return result;
}

measured program_trial::judged(const launch::result& ended) const {
  measured result;
  result.seconds = ended.wall_s;
  result.value = ended.wall_s;
  if (ended.timed_out) {
    result.failure = fmt::format("it took too long and was ended after {:.3g} s", ended.wall_s);
    const auto longest = std::max_element(ended.sites.begin(), ended.sites.end(),
                                          [](const auto& a, const auto& b) { return a.max_wait_ns < b.max_wait_ns; });
    if (longest != ended.sites.end() && longest->max_wait_ns > max_wait_ns) {
      result.failure += fmt::format("; a thread waited {:.3g} s at {}", static_cast<double>(longest->max_wait_ns) / 1e9,
                                    longest->name);
    }
  } else if (ended.exit_status != 0) {
    result.failure = ended.exit_status > 128 ? fmt::format("it was ended by signal {}", ended.exit_status - 128)
                                             : fmt::format("its exit status was {}", ended.exit_status);
    result.failure += "; " + last_lines(ended.output);
    if (!ended.without_library.empty())
      result.failure += "; a program that it started cannot load the library: " + ended.without_library.front();
  } else if (const char* const left = ended.read_in_vain ? launch::input_left_over() : nullptr; left != nullptr) {
    result.failure = fmt::format(
        "it reads its standard input, which is {} that not every run can read; give it as a file: --input FILE "
        "(/dev/null: nothing)",
        left);
  } else if (number_) {
    metric::found number = number_->in(ended.output);
    result.value = number.value;
    result.failure = std::move(number.failure);
  }
  return result;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tune

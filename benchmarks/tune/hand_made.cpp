// SPDX-License-Identifier: Apache-2.0
#include "tune/hand_made.hpp"

#include <stdexcept>
#include <utility>

#include "observe/statistics.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

policy::policy_set with_site(const std::string& site, policy::packed choices) {
  policy::policy_set set;
  set.sites.emplace_back(site, choices);
  return set;
}

void measure(std::vector<subject>& subjects, unsigned rounds, const run_once& run) {
  for (unsigned round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      subject& one = subjects[(i + round) % subjects.size()];
      try {
        one.values.push_back(run(one.policies, round));
      } catch (const std::runtime_error& error) {
        throw std::runtime_error(one.name + ": " + error.what());
      }
    }
  }
}

double program_runs::operator()(const policy::policy_set& policies) {
  launch::options what;
  what.command = command_;
  what.policies = policies;
  what.capture = true;
  const launch::result ended = launcher_.launch(what);
  const tune::metric::found found = metric_.in(ended.output);
  if (ended.exit_status != 0 || !found.failure.empty())
    throw std::runtime_error("the program failed: " + tune::last_lines(ended.output));
  return found.value;
}

std::size_t put_points(observe::document& into, const std::vector<subject>& subjects, const observe::point& common) {
  const std::size_t first = into.points.size();
  for (const subject& one : subjects) {
    observe::point made = common;
    made.subject = one.name;
    made.kind = one.kind;
    made.values = one.values;
    into.points.push_back(std::move(made));
  }
  return first;
}

observe::claim claim_best(observe::claim what, const std::vector<subject>& subjects, std::size_t by_hand,
                          std::size_t first_point) {
  std::vector<observe::peer_values> peers;
  for (std::size_t i = 1; i <= by_hand; ++i) peers.push_back({subjects[i].name, subjects[i].values});
  const observe::peer_comparison best = observe::compare_to_best_peer(subjects[0].values, peers);
  what.words += " (" + std::string(best.peer_name) + ")";
  what.from = {first_point, first_point + best.peer + 1};
  return observe::judged(std::move(what), best.ratio, goal_of_best);
}

void print(const char* heading, const std::vector<subject>& subjects, std::FILE* out) {
  std::fprintf(out, "%s, median (lowest to highest); higher is better\n", heading);
  for (const subject& one : subjects) {
    const observe::summary all = observe::summarize(one.values);
    std::fprintf(out, "  %-44s %12.0f (%.0f to %.0f)\n", one.name.c_str(), all.median, all.low, all.high);
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

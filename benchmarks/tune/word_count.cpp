// SPDX-License-Identifier: Apache-2.0
#include "tune/word_count.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "policy/words.hpp"
#include "sim/models/machine_file.hpp"
#include "tune/hand_made.hpp"
#include "tune/program.hpp"
#include "tune/simulated.hpp"
#include "tune/usual_policies.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

constexpr const char* hot_site = "words.dictionary";
constexpr unsigned threads = 8;  // of the program
constexpr const char* words_regex = "([0-9]+) words a second";
constexpr const char* simulated_machine = "haswell-i7-4770";  // eight hardware threads, whose attempts commit

std::string tuned_name(const tune::outcome& found) { return "tuned: " + tune::name_of(found.best); }

/// What `found` stands for; nothing is said of any site where the program is best as it is.
template <class Trial>
subject tuned_subject(const Trial& runs, const tune::outcome& found) {
  const std::optional<policy::policy_set> tuned = runs.policy_of(found.best);
  return {tuned_name(found), tuned ? *tuned : policy::policy_set{}, observe::subject_kind::ours};
}

/// Each lock for the hot site, and each preset of elision over the mutex where attempts commit.
void add_made_by_hand(std::vector<subject>& to, bool with_elision) {
  const std::string name = "by hand: dictionary ";
  for (const auto& [word, kind] : policy::words_of<policy::lock_kind>::all) {
    // The program's own lock is not one of the C library.
    if (kind != policy::lock_kind::libc) to.push_back({name + word, with_site(hot_site, {.lock = kind})});
  }
  if (!with_elision) return;
  for (const auto& [word, kind] : policy::words_of<policy::elision_kind>::all) {
    if (kind == policy::elision_kind::off) continue;
    to.push_back({name + "elision " + word, with_site(hot_site, {.lock = policy::lock_kind::mutex, .elision = kind})});
  }
}

/// What the tuner found first, then what is made by hand, then the program as it is.
template <class Trial>
std::vector<subject> subjects_of(const Trial& runs, const tune::outcome& found, bool with_elision) {
  std::vector<subject> subjects = {tuned_subject(runs, found)};
  add_made_by_hand(subjects, with_elision);
  subjects.push_back({"as it is: dictionary ticket", policy::policy_set{}});
  return subjects;
}

observe::claim claim_hot_site(const tune::outcome& found, const std::string& program, std::size_t first_point) {
  const std::string first = found.reference_sites.empty() ? "(none)" : found.reference_sites.front().counted.name;
  const bool named = first == hot_site;
  return {.id = "A4-2",
          .words = program + ": where threads waited most as it is, as the tuner names it: " + first,
          .value = named,
          .goal = true,
          .outcome = observe::judge(named),
          .from = {first_point}};
}

/// Points, claims and table. `program`: its name in claims.
void put(observe::document& into, const std::vector<subject>& subjects, const tune::outcome& found,
         const std::string& program, observe::json params, std::FILE* table) {
  observe::point common;
  common.workload = "word_count";
  common.params = std::move(params);
  common.threads = threads;
  common.placement = "none";
  common.metric = "throughput";
  common.unit = "words/s";
  const std::size_t first = put_points(into, subjects, common);
  into.claims.push_back(claim_best({.id = "A4-2", .words = program + ": the tuned policy to the best one made by hand"},
                                   subjects, subjects.size() - 2, first));
  into.claims.push_back(claim_hot_site(found, program, first));
  print((program + ": words/s").c_str(), subjects, table);
}

/// The question of `txsync tune -- PROGRAM`, with --metric.
tune::question question_of(std::vector<std::string> candidates) {
  tune::question question;
  question.candidates = std::move(candidates);
  question.site_base = "libc";
  question.way = observe::better::higher;
  return question;
}

std::vector<std::string> usual_candidates(tune::offered_attempts machine) {
  std::vector<std::string> names = tune::usual_policies(machine);
  names.insert(names.begin(), tune::unmodified);
  return names;
}

}  // namespace

void tune_word_count(observe::document& into, const word_count_options& asked, const tune::environment& world,
                     std::FILE* table) {
  const std::vector<std::string> command = {TXSYNC_WORD_COUNT, std::to_string(asked.texts)};
  tune::question question = question_of(usual_candidates(tune::offered_here()));
  question.counted_reference = "libc";
  tune::program_trial runs(command, tune::metric(words_regex), question.candidates);
  tune::environment interruptible = world;
  interruptible.stop = [&runs, &world] { return runs.interrupted() || world.stop(); };
  const tune::outcome found = tune::tune(runs, question, interruptible);
  std::vector<subject> subjects = subjects_of(runs, found, tune::offered_here().attempts);
  program_runs program(command, words_regex);
  measure(subjects, asked.rounds, [&](const policy::policy_set& policies, unsigned) { return program(policies); });
  put(into, subjects, found, "word_count", {{"texts", asked.texts}}, table);
}

void tune_simulated_word_count(observe::document& into, const word_count_options& asked, const tune::environment& world,
                               std::FILE* table) {
  const std::string image = TXSYNC_SIMULATED_WORD_COUNT;
  if (image.empty()) {
    std::fprintf(stderr, "word_count is not simulated: this txsync has no simulated machine\n");
    return;
  }
  const sim::machine machine = sim::load_machine(simulated_machine);
  const tune::offered_attempts offered = tune::offered_by(machine.model);
  std::vector<std::string> policies = usual_candidates(offered);
  tune::question question = question_of(policies);
  std::erase(question.candidates, "libc");  // each run counts: it is the program as it is
  tune::simulated_trial runs({image, {std::to_string(asked.simulated_texts)}, machine.model}, tune::metric(words_regex),
                             policies, []() noexcept { return false; });
  const tune::outcome found = tune::tune(runs, question, world);
  std::vector<subject> subjects = subjects_of(runs, found, offered.attempts);
  measure(subjects, asked.rounds, [&](const policy::policy_set& by, unsigned) {
    const tune::measured one = runs.run(std::optional(by), 0);
    if (!one.failure.empty()) throw std::runtime_error(one.failure);
    return one.value;
  });
  put(into, subjects, found, "word_count on " + machine.name + ", simulated",
      {{"texts", asked.simulated_texts}, {"machine", machine.name}}, table);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

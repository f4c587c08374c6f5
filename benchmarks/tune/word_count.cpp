// SPDX-License-Identifier: Apache-2.0
#include "tune/word_count.hpp"

#include <string>
#include <vector>

#include <txsync/machine/attempt.hpp>

#include "policy/words.hpp"
#include "tune/hand_made.hpp"
#include "tune/program.hpp"
#include "tune/usual_policies.hpp"

namespace txsync::inline TXSYNC_BACKEND::benchmarks {

namespace {

constexpr const char* hot_site = "words.dictionary";
constexpr unsigned threads = 8;  // of the program
constexpr const char* words_regex = "([0-9]+) words a second";

std::string tuned_name(const tune::outcome& found) { return "tuned: " + tune::name_of(found.best); }

/// What `found` stands for; nothing is said of any site where the program is best as it is.
subject tuned_subject(const tune::program_trial& runs, const tune::outcome& found) {
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

observe::claim claim_hot_site(const tune::outcome& found, std::size_t first_point) {
  const std::string first = found.reference_sites.empty() ? "(none)" : found.reference_sites.front().counted.name;
  const bool named = first == hot_site;
  return {.id = "A4-2",
          .words = "word_count: where threads waited most as it is, as the tuner names it: " + first,
          .value = named,
          .goal = true,
          .outcome = observe::judge(named),
          .from = {first_point}};
}

tune::outcome tune_words(tune::program_trial& runs, const std::vector<std::string>& candidates,
                         const tune::surroundings& world) {
  tune::question question;
  question.candidates = candidates;
  question.site_base = "libc";
  question.counted_reference = "libc";
  question.way = observe::better::higher;
  tune::surroundings interruptible = world;
  interruptible.stop = [&runs, &world] { return runs.interrupted() || world.stop(); };
  return tune::tune(runs, question, interruptible);
}

}  // namespace

void tune_word_count(observe::document& into, const word_count_options& asked, const tune::surroundings& world,
                     std::FILE* table) {
  const std::vector<std::string> command = {TXSYNC_WORD_COUNT, std::to_string(asked.texts)};
  std::vector<std::string> candidates = tune::usual_policies();
  candidates.insert(candidates.begin(), tune::unmodified);
  tune::program_trial runs(command, tune::metric(words_regex), candidates);
  const tune::outcome found = tune_words(runs, candidates, world);
  std::vector<subject> subjects = {tuned_subject(runs, found)};
  add_made_by_hand(subjects, machine::htm().attempts);
  const std::size_t by_hand = subjects.size() - 1;
  subjects.push_back({"as it is: dictionary ticket", policy::policy_set{}});
  program_runs program(command, words_regex);
  measure(subjects, asked.rounds, [&](const policy::policy_set& policies, unsigned) { return program(policies); });
  observe::point common;
  common.workload = "word_count";
  common.params = {{"texts", asked.texts}};
  common.threads = threads;
  common.place = "none";
  common.metric = "throughput";
  common.unit = "words/s";
  const std::size_t first = put_points(into, subjects, common);
  into.claims.push_back(claim_best({.id = "A4-2", .words = "word_count: the tuned policy to the best one made by hand"},
                                   subjects, by_hand, first));
  into.claims.push_back(claim_hot_site(found, first));
  print("word_count: words/s", subjects, table);
}

}  // namespace txsync::inline TXSYNC_BACKEND::benchmarks

// SPDX-License-Identifier: Apache-2.0
#include "tune/one_of_twenty.hpp"

#include "tune/program.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

constexpr double min_gain = 1.3;
constexpr const char* wrong_lock = "lock_13";
constexpr const char* seconds_regex = "seconds: ([0-9.]+)";

/// The proof's arms: what the user has, and what came out.
void put_points(observe::document& into, const tune::phase_record& proof, unsigned long sections) {
  for (const tune::arm& one : proof.arms) {
    observe::point made;
    made.workload = "twenty_locks";
    made.params = {{"sections", sections}};
    made.threads = 2;
    made.placement = "none";
    made.subject = tune::name_of(one.config);
    made.kind = one.config == proof.arms.front().config ? observe::subject_kind::peer : observe::subject_kind::ours;
    made.metric = "time of all sections";
    made.unit = "s";
    made.way = observe::better::lower;
    made.values = one.values;
    into.points.push_back(std::move(made));
  }
}

bool changes_only_the_wrong_one(const tune::outcome& found) {
  return found.proven && found.best.candidate == "libc" && found.best.sites.size() == 1 &&
         found.best.sites.front().site.find(wrong_lock) != std::string::npos;
}

}  // namespace

void tune_one_of_twenty(observe::document& into, unsigned long sections, const tune::environment& world) {
  tune::question question;
  question.candidates = {tune::unmodified, "libc", "mutex", "spin", "ticket"};
  question.site_base = "libc";
  question.counted_reference = "libc";
  tune::program_trial runs({TXSYNC_TWENTY_LOCKS, std::to_string(sections)}, tune::metric(seconds_regex),
                           question.candidates);
  const tune::outcome found = tune::tune(runs, question, world);
  const std::size_t first = into.points.size();
  if (const tune::phase_record* proof = found.proof(); proof != nullptr) put_points(into, *proof, sections);
  const bool right = changes_only_the_wrong_one(found);
  observe::claim what{.id = "A3-8",
                      .words = "one mutex of twenty is of the wrong kind; changed are: " + tune::name_of(found.best),
                      .value = right,
                      .goal = true,
                      .outcome = observe::judge(right)};
  observe::claim gain{.id = "A3-8", .words = "speed after that change to the unmodified program"};
  for (std::size_t i = first; i < into.points.size(); ++i) {
    what.from.push_back(i);
    gain.from.push_back(i);
  }
  into.claims.push_back(std::move(what));
  into.claims.push_back(observe::judged(std::move(gain), found.gain, min_gain));
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

// SPDX-License-Identifier: Apache-2.0
#include "tm/auto_claims.hpp"

#include <string>
#include <utility>

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

using observe::claim;

/// auto to one kind of others, over all cells: the mean, and the cells that are behind.
class auto_cells {
 public:
  auto_cells(const answers& all, const char* others) : all_(all), others_(others) {}

  /// Each ratio is printed, too; the goal is one of all cells.
  void add(const std::optional<comparison_of_cells>& compared, const std::string& words, std::vector<claim>& claims) {
    if (!compared) return;
    claim made = all_.claim_of("D2-2", *compared, words, 0);
    from_.insert(from_.end(), made.from.begin(), made.from.end());
    if (compared->ratios.empty()) {
      ++lacking_;
    } else {
      missed_ += observe::judge(*made.value_interval, goal_of_auto) == observe::outcome::missed ? 1 : 0;
      ratios_.push_back(compared->ratios);
    }
    claims.push_back(std::move(made));
  }

  void add_sums(std::vector<claim>& claims) const {
    if (from_.empty()) return;
    const std::string words = std::string("auto to ") + others_ + ", ";
    const std::string lacking = lacking_ == 0 ? "" : " (" + std::to_string(lacking_) + " more have too few windows)";
    const std::string cells = " of " + std::to_string(ratios_.size()) + " cells" + lacking;
    claim mean{.id = "D2-2", .words = words + "geometric mean" + cells, .from = from_};
    if (!ratios_.empty())
      claims.push_back(decided(observe::judged(std::move(mean), observe::geometric_mean(ratios_), goal_of_auto)));
    claims.push_back(decided({.id = "D2-2",
                              .words = words + "those" + cells + " that are under 0.95",
                              .value = missed_,
                              .goal = 0,
                              .outcome = observe::judge(missed_ == 0),
                              .from = from_,
                              .rule = "a cell counts when the upper 95 % bound of its ratio is under 0.95"}));
  }

 private:
  /// Nothing holds for all cells before each has been compared.
  claim decided(claim made) const {
    if (lacking_ != 0 && made.outcome == observe::outcome::holds) made.outcome = observe::outcome::undecided;
    return made;
  }

  const answers& all_;
  const char* others_;
  std::vector<std::vector<double>> ratios_ = {};
  std::vector<std::size_t> from_ = {};
  unsigned missed_ = 0;
  unsigned lacking_ = 0;
};

std::string words_of(const answers& all, const cell& ours, const char* others, const cell* best) {
  std::string words = all.place_of(ours) + "auto to " + others;
  if (best != nullptr) words += ", " + std::string(all.subject_of(*best));
  return words;
}

/// Whether the section is the one of auto, or one of a fixed assignment.
bool is_mixed(const std::string& section) { return section.starts_with(mixed_preset); }

void claim_mixed(const answers& all, const cell& ours, const std::vector<cell>& cells, std::vector<claim>& claims) {
  std::vector<const cell*> others;
  for (const cell& one : cells) {
    if (&one != &ours && is_mixed(all.section_of(one)) && one.threads == ours.threads) others.push_back(&one);
  }
  const auto compared = all.compare_with_best(&ours, others);
  if (!compared) return;
  std::string words =
      words_of(all, ours, "the best algorithm for all blocks or assignment of blocks to paths", compared->best);
  if (compared->best != nullptr && compared->best->section != ours.section)
    words += " with " + all.section_of(*compared->best);
  claims.push_back(all.claim_of("D2-2", *compared, words, goal_of_auto));
}

}  // namespace

std::vector<section> mixed_sections() {
  std::vector<section> made{preset_section(mixed_preset, "transactions", mixed_preset)};
  const workloads::workload& which = *made.front().workload;
  const auto paths = static_cast<unsigned>(workloads::find_parameter(which, "paths"));
  const std::span<const char* const> names = which.keys[paths].names;
  made.front().only = {"tm_auto", "tm_htm_sgl", "tm_dctl"};
  for (std::uint64_t assigned = 1; assigned < names.size(); ++assigned) {  // 0: the policy's
    section fixed = preset_section(mixed_preset, "transactions", mixed_preset);
    fixed.name = std::string(mixed_preset) + " " + names[assigned];
    fixed.values.values[paths] = assigned;
    fixed.only = {"tm_hydctl"};
    made.push_back(std::move(fixed));
  }
  return made;
}

void claim_auto(const answers& all, const std::vector<cell>& cells, std::vector<claim>& claims) {
  constexpr const char* own = "our best algorithm";
  constexpr const char* libitm = "libitm";
  auto_cells to_own(all, own), to_libitm(all, libitm);
  for (const cell& one : cells) {
    if (all.subject_of(one) != "tm_auto") continue;
    if (is_mixed(all.section_of(one))) {
      if (one.threads != 1) claim_mixed(all, one, cells, claims);
      continue;
    }
    const auto best = all.compare_with_best(&one, all.other_algorithms(&one));
    to_own.add(best, words_of(all, one, own, best ? best->best : nullptr), claims);
    const cell* const theirs = all.of(all.section_of(one), one.threads, libitm);
    to_libitm.add(all.compare(&one, theirs), words_of(all, one, libitm, nullptr), claims);
  }
  to_own.add_sums(claims);
  to_libitm.add_sums(claims);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

// SPDX-License-Identifier: Apache-2.0
// The table of ./dev bench tm, and what its cells say about each other.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "locks/compared_rounds.hpp"
#include "locks/measure.hpp"
#include "observe/document/document.hpp"
#include "observe/statistics.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// A cell compared with another one, or with the best of several.
struct comparison_of_cells {
  std::vector<const cell*> cells;  ///< ours first
  const cell* best = nullptr;      ///< of the others
  compared_by by = compared_by::whole_runs;
  std::vector<double> ratios = {};  ///< by round; none if there are too few windows
};

class answers {
 public:
  answers(const request& wanted, const std::vector<cell>& cells) : wanted_(wanted), cells_(cells) {}

  /// Null if it was not measured.
  const cell* of(std::string_view section, unsigned threads, std::string_view subject) const {
    for (const cell& one : cells_) {
      if (section_of(one) == section && one.threads == threads && subject_of(one) == subject &&
          !one.throughput.empty()) {
        return &one;
      }
    }
    return nullptr;
  }
  const std::vector<unsigned>& threads() const { return wanted_.threads; }
  std::string_view subject_of(const cell& one) const { return wanted_.subjects[one.subject].name; }
  const std::string& section_of(const cell& one) const { return wanted_.sections[one.section].name; }
  static std::string threads_text(unsigned threads) {
    return std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  }
  std::string place_of(const cell& one) const { return section_of(one) + ", " + threads_text(one.threads) + ": "; }

  /// The other algorithms of ours where `ours` was measured.
  std::vector<const cell*> other_algorithms(const cell* ours) const {
    std::vector<const cell*> others;
    for (const cell& one : cells_) {
      const workloads::subject& subject = wanted_.subjects[one.subject];
      const bool is_beside = ours != nullptr && one.section == ours->section && one.threads == ours->threads;
      if (is_beside && &one != ours && subject.is_algorithm && !subject.peer) others.push_back(&one);
    }
    return others;
  }

  /// Round by round. Nothing if one of them was not measured.
  std::optional<comparison_of_cells> compare(const cell* one, const cell* other) const {
    if (!comparable(one, other)) return std::nullopt;
    comparison_of_cells made{.cells = {one, other}, .best = other, .ratios = ratios_of(*one, *other)};
    made.by = rounds_of(made.cells).by;
    return made;
  }
  /// With the best of the others, which is picked in odd rounds; the ratios are of even ones.
  std::optional<comparison_of_cells> compare_with_best(const cell* ours, std::vector<const cell*> others) const {
    std::erase_if(others, [&](const cell* one) { return !comparable(ours, one); });
    if (others.empty()) return std::nullopt;
    comparison_of_cells made{.cells = {ours}};
    made.cells.insert(made.cells.end(), others.begin(), others.end());
    made.by = rounds_of(made.cells).by;
    if (auto compared = compare_to_best(wanted_, ours, others)) {
      made.best = others[compared->peer];
      made.ratios = std::move(compared->ratios);
    } else if (made.by != compared_by::too_few_windows) {
      return std::nullopt;
    }
    return made;
  }

  std::vector<std::size_t> indices(const std::vector<const cell*>& cells) const {
    std::vector<std::size_t> all;
    for (const cell* const one : cells) all.push_back(static_cast<std::size_t>(one - cells_.data()));
    return all;
  }
  /// The claim that the ratio reaches the goal, in these words and those of what was compared. A goal of 0 is none.
  observe::claim claim_of(const char* id, const comparison_of_cells& compared, const std::string& words,
                          double goal) const {
    observe::claim made{
        .id = id, .words = words + " (" + to_string(compared.by) + ")", .from = indices(compared.cells)};
    if (!compared.ratios.empty()) {
      const observe::interval ratio = observe::median_interval(compared.ratios);
      return goal > 0 ? observe::judged(std::move(made), ratio, goal) : observe::without_goal(std::move(made), ratio);
    }
    made.value = "not compared";
    made.goal = "compared";
    made.outcome = observe::outcome::undecided;
    made.rule = "undecided with fewer than " + std::to_string(min_window_rounds) + " rounds to compare";
    return made;
  }

 private:
  const request& wanted_;
  const std::vector<cell>& cells_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

// SPDX-License-Identifier: Apache-2.0
#include "locks/compared_rounds.hpp"

#include <algorithm>
#include <limits>

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

/// Whether the round counts for such a comparison.
bool counts(std::span<const cell* const> cells, std::size_t round, compared_by by) {
  if (by == compared_by::whole_runs) return true;
  double min_line_ns = std::numeric_limits<double>::infinity(), max_line_ns = 0;
  for (const cell* const one : cells) {
    const observe::undisturbed_record& windows = one->undisturbed;
    if (windows.throughput[round] == 0) return false;
    for (const double line_ns : {windows.line_before_ns[round], windows.line_after_ns[round]}) {
      min_line_ns = std::min(min_line_ns, line_ns);
      max_line_ns = std::max(max_line_ns, line_ns);
    }
  }
  if (by == compared_by::windows) return true;
  const bool is_class = by == compared_by::far_windows ? min_line_ns >= min_far_ns : max_line_ns < min_far_ns;
  return is_class && max_line_ns <= max_line_spread * min_line_ns;
}

compared_rounds chosen_rounds(std::span<const cell* const> cells, compared_by by) {
  const auto size = [](const cell* one) { return one->throughput.size(); };
  compared_rounds chosen{by, std::vector<std::vector<double>>(cells.size())};
  for (std::size_t round = 0; round < std::ranges::min(cells, {}, size)->throughput.size(); ++round) {
    if (!counts(cells, round, by)) continue;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const cell& one = *cells[i];
      chosen.throughput[i].push_back(by == compared_by::whole_runs ? one.throughput[round]
                                                                   : one.undisturbed.throughput[round]);
    }
  }
  return chosen;
}

compared_rounds enough_of(compared_rounds rounds) {
  if (rounds.throughput.front().size() >= min_window_rounds) return rounds;
  for (std::vector<double>& one : rounds.throughput) one.clear();
  rounds.by = compared_by::too_few_windows;
  return rounds;
}

}  // namespace

bool comparable(const cell* one, const cell* other) {
  const auto is_sound = [](const cell* any) {
    return any != nullptr && any->faults.empty() && !any->throughput.empty();
  };
  return is_sound(one) && is_sound(other);
}

const char* to_string(compared_by which) noexcept {
  switch (which) {
    case compared_by::whole_runs:
      return "whole runs";
    case compared_by::windows:
      return "windows";
    case compared_by::far_windows:
      return "windows, CPUs far apart";
    case compared_by::near_windows:
      return "windows, CPUs near each other";
    default:
      return "too few undisturbed windows";
  }
}

compared_rounds rounds_of(std::span<const cell* const> cells) {
  const auto watched = [](const cell* one) { return !one->undisturbed.throughput.empty(); };
  if (!std::all_of(cells.begin(), cells.end(), watched)) return chosen_rounds(cells, compared_by::whole_runs);
  const bool has_neighbours = std::any_of(cells.begin(), cells.end(), [](const cell* one) { return one->threads > 1; });
  if (!has_neighbours) return enough_of(chosen_rounds(cells, compared_by::windows));
  compared_rounds far = enough_of(chosen_rounds(cells, compared_by::far_windows));
  return far.by != compared_by::too_few_windows ? far : enough_of(chosen_rounds(cells, compared_by::near_windows));
}

std::vector<double> ratios_of(const cell& one, const cell& other) {
  const cell* const both[] = {&one, &other};
  const compared_rounds rounds = rounds_of(both);
  if (rounds.throughput.front().empty()) return {};
  return observe::ratios(rounds.throughput[0], rounds.throughput[1]);
}

observe::interval ratio_of(const cell& one, const cell& other) {
  return observe::median_interval(ratios_of(one, other));
}

std::optional<observe::peer_comparison> compare_to_best(const request& wanted, const cell* ours,
                                                        const std::vector<const cell*>& peers) {
  if (ours == nullptr || peers.empty()) return std::nullopt;
  std::vector<const cell*> all{ours};
  all.insert(all.end(), peers.begin(), peers.end());
  const compared_rounds rounds = rounds_of(all);
  if (rounds.throughput.front().size() < 2) return std::nullopt;
  std::vector<observe::peer_values> theirs;
  theirs.reserve(peers.size());
  for (std::size_t i = 1; i < all.size(); ++i)
    theirs.push_back({wanted.subjects[all[i]->subject].name, rounds.throughput[i]});
  return observe::compare_to_best_peer(rounds.throughput.front(), theirs);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

// SPDX-License-Identifier: Apache-2.0
#include "tm/claims.hpp"

#include <string>

#include "tm/answers.hpp"
#include "tm/auto_claims.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

using observe::claim;

/// A goal of 0 is none.
void ratio(const answers& all, const char* id, const cell* one, const cell* other, const std::string& words,
           double goal, std::vector<claim>& claims) {
  if (const auto compared = all.compare(one, other)) claims.push_back(all.claim_of(id, *compared, words, goal));
}

void to_best_own(const answers& all, const cell* ours, double goal, std::vector<claim>& claims) {
  const auto compared = all.compare_with_best(ours, all.other_algorithms(ours));
  if (!compared) return;
  const std::string best = compared->best != nullptr ? ", " + std::string(all.subject_of(*compared->best)) : "";
  const std::string words = all.place_of(*ours) + "dctl to the best other algorithm of ours" + best;
  claims.push_back(all.claim_of("D1-1", *compared, words, goal));
}

void claim_section(const answers& all, const tm_goals& goals, std::vector<claim>& claims) {
  const std::string section = goals.preset;
  for (const unsigned threads : all.threads()) {
    const std::string where = section + ", " + answers::threads_text(threads) + ": ";
    const cell* const ours = all.of(section, threads, "tm_dctl");
    to_best_own(all, ours, goals.to_best_own, claims);
    if (threads != 1 || goals.above_libitm_at_1) {
      ratio(all, "D1-1", ours, all.of(section, threads, "libitm"), where + "dctl to libitm", 1.0, claims);
    }
    const cell* const mutex = all.of(section, threads, "std::mutex");
    const std::string to_mutex = where + "dctl to std::mutex";
    if (threads == 2) ratio(all, "D1-1", ours, mutex, to_mutex, goals.to_mutex_at_2, claims);
    if (threads == 2) ratio(all, "D2-2", ours, mutex, to_mutex, goals.to_mutex_d2, claims);
    if (threads == 1) ratio(all, "D1-1", ours, mutex, to_mutex, 1 / goals.slower_at_1, claims);
  }
  ratio(all, "D1-1", all.of(section, 4, "tm_dctl"), all.of(section, 2, "tm_dctl"),
        section + ": dctl with 4 threads to dctl with 2", goal_at_4, claims);
}

void claim_inside(const answers& all, const tm_goals& goals, std::vector<claim>& claims) {
  const std::string section = goals.preset;
  if (section == "bank-50") {
    ratio(all, "D1-2", all.of(section, 2, "tm_dctl"), all.of(section, 2, "std::mutex"),
          section + ", whose sections allocate nothing, 2 threads: dctl to std::mutex", goal_inside, claims);
    return;
  }
  const std::string inside = section + inside_mark;
  // The tree's is printed, and asked for nowhere.
  if (section != "tree-20") {
    ratio(all, "D1-2", all.of(inside, 2, "tm_dctl"), all.of(inside, 2, "std::mutex"),
          inside + ", 2 threads: dctl to std::mutex", goal_inside, claims);
  }
  for (const unsigned threads : all.threads()) {
    ratio(all, "D1-2", all.of(inside, threads, "tm_dctl"), all.of(section, threads, "tm_dctl"),
          inside + ", " + answers::threads_text(threads) + ": dctl to dctl with nodes of a pool (the cost)", 0.0,
          claims);
  }
}

/// What nodes made inside cost, over all structures that have nodes.
void claim_cost_inside(const answers& all, std::vector<claim>& claims) {
  constexpr double goal = 0.85;
  std::vector<std::vector<double>> ratios;
  claim mean{.id = "D2-1",
             .words =
                 "nodes made inside, dctl to dctl with nodes of a pool, geometric mean over list, tree and hash maps "
                 "at 1 and 2 threads",
             .from = {}};
  for (const tm_goals& goals : all_tm_goals) {
    const std::string section = goals.preset;
    for (const unsigned threads : {1u, 2u}) {
      const auto compared =
          all.compare(all.of(section + inside_mark, threads, "tm_dctl"), all.of(section, threads, "tm_dctl"));
      if (!compared || compared->ratios.empty()) continue;
      ratios.push_back(compared->ratios);
      const auto used = all.indices(compared->cells);
      mean.from.insert(mean.from.end(), used.begin(), used.end());
    }
  }
  if (!ratios.empty()) claims.push_back(observe::judged(std::move(mean), observe::geometric_mean(ratios), goal));
}

}  // namespace

std::vector<claim> make_tm_claims(const request& wanted, const std::vector<cell>& cells) {
  const answers all(wanted, cells);
  std::vector<claim> claims;
  for (const tm_goals& goals : all_tm_goals) claim_section(all, goals, claims);
  for (const tm_goals& goals : all_tm_goals) claim_inside(all, goals, claims);
  claim_cost_inside(all, claims);
  claim_auto(all, cells, claims);
  return claims;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

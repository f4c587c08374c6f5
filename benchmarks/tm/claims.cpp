// SPDX-License-Identifier: Apache-2.0
#include "tm/claims.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "observe/statistics.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

using observe::claim;
using observe::interval;

class answers {
 public:
  answers(const request& wanted, const std::vector<cell>& cells) : wanted_(wanted), cells_(cells) {}

  const cell* of(std::string_view section, unsigned threads, std::string_view subject) const {
    for (const cell& one : cells_) {
      if (wanted_.sections[one.section].name == section && one.threads == threads &&
          wanted_.subjects[one.subject].name == subject && !one.throughput.empty()) {
        return &one;
      }
    }
    return nullptr;
  }
  std::size_t index(const cell* one) const { return static_cast<std::size_t>(one - cells_.data()); }

  /// One to another, round by round, where both were measured.
  void ratio(const char* id, const cell* one, const cell* other, const std::string& words, double goal,
             std::vector<claim>& claims) const {
    if (!comparable(one, other)) return;
    add(id, ratio_of(*one, *other), {index(one), index(other)}, words, goal, claims);
  }

  /// dctl to the best of the others of ours, picked in odd rounds and compared in even ones.
  void to_best_own(const std::string& section, unsigned threads, double goal, std::vector<claim>& claims) const {
    const cell* const ours = of(section, threads, "tm_dctl");
    if (ours == nullptr) return;
    std::vector<const cell*> others;
    std::vector<std::size_t> from{index(ours)};
    for (const cell& one : cells_) {
      const workloads::subject& subject = wanted_.subjects[one.subject];
      if (wanted_.sections[one.section].name != section || one.threads != threads || &one == ours || subject.peer ||
          !subject.is_algorithm || !comparable(ours, &one)) {
        continue;
      }
      others.push_back(&one);
      from.push_back(index(&one));
    }
    const auto compared = compare_to_best(wanted_, ours, others);
    if (!compared) return;
    add("D1-1", compared->ratio, from,
        section + ", " + threads_text(threads) + ": dctl to the best other algorithm of ours, " +
            std::string(compared->peer_name),
        goal, claims);
  }

  static std::string threads_text(unsigned threads) {
    return std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  }

 private:
  static void add(const char* id, const interval& value, const std::vector<std::size_t>& from, const std::string& words,
                  double goal, std::vector<claim>& claims) {
    claim made{.id = id, .words = words, .from = from};
    claims.push_back(goal > 0 ? observe::judged(std::move(made), value, goal)
                              : observe::without_goal(std::move(made), value));
  }

  const request& wanted_;
  const std::vector<cell>& cells_;
};

void claim_section(const answers& all, const request& wanted, const tm_goals& goals, std::vector<claim>& claims) {
  const std::string section = goals.preset;
  for (const unsigned threads : wanted.threads) {
    const std::string where = section + ", " + answers::threads_text(threads) + ": ";
    all.to_best_own(section, threads, goals.to_best_own, claims);
    const cell* const ours = all.of(section, threads, "tm_dctl");
    if (threads != 1 || goals.above_libitm_at_1) {
      all.ratio("D1-1", ours, all.of(section, threads, "libitm"), where + "dctl to libitm", 1.0, claims);
    }
    const cell* const mutex = all.of(section, threads, "std::mutex");
    if (threads == 2) all.ratio("D1-1", ours, mutex, where + "dctl to std::mutex", goals.to_mutex_at_2, claims);
    if (threads == 1) all.ratio("D1-1", ours, mutex, where + "dctl to std::mutex", 1 / goals.slower_at_1, claims);
  }
  all.ratio("D1-1", all.of(section, 4, "tm_dctl"), all.of(section, 2, "tm_dctl"),
            section + ": dctl with 4 threads to dctl with 2", goal_at_4, claims);
}

void claim_inside(const answers& all, const request& wanted, const tm_goals& goals, std::vector<claim>& claims) {
  const std::string section = goals.preset;
  if (section == "bank-50") {
    all.ratio("D1-2", all.of(section, 2, "tm_dctl"), all.of(section, 2, "std::mutex"),
              section + ", whose sections allocate nothing, 2 threads: dctl to std::mutex", goal_inside, claims);
    return;
  }
  const std::string inside = section + inside_mark;
  // The tree's is printed, and asked for nowhere.
  if (section != "tree-20") {
    all.ratio("D1-2", all.of(inside, 2, "tm_dctl"), all.of(inside, 2, "std::mutex"),
              inside + ", 2 threads: dctl to std::mutex", goal_inside, claims);
  }
  for (const unsigned threads : wanted.threads) {
    all.ratio("D1-2", all.of(inside, threads, "tm_dctl"), all.of(section, threads, "tm_dctl"),
              inside + ", " + answers::threads_text(threads) + ": dctl to dctl with nodes of a pool (the cost)", 0.0,
              claims);
  }
}

}  // namespace

std::vector<claim> make_tm_claims(const request& wanted, const std::vector<cell>& cells) {
  const answers all(wanted, cells);
  std::vector<claim> claims;
  for (const tm_goals& goals : all_tm_goals) claim_section(all, wanted, goals, claims);
  for (const tm_goals& goals : all_tm_goals) claim_inside(all, wanted, goals, claims);
  return claims;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

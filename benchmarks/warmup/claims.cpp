// SPDX-License-Identifier: Apache-2.0
#include "warmup/claims.hpp"

#include <cstring>
#include <string>

#include "observe/statistics.hpp"

namespace txsync::inline TXSYNC_BACKEND::benchmarks {

namespace {

using observe::claim;

/// A lock with warm-up, and the same without.
struct pair_of {
  const char* warm;
  const char* plain;
};
constexpr pair_of pairs[] = {
    {"warm_ticket", "ticket"}, {"warm_mcs", "mcs"}, {"warm_tatas", "tatas"}, {"warm_mutex", "txsync::mutex"}};

class answers {
 public:
  answers(const request& wanted, const std::vector<cell>& cells) : wanted_(wanted), cells_(cells) {}

  const cell* of(std::size_t place, unsigned threads, const std::string& name) const {
    for (const cell& one : cells_) {
      if (one.section == place && one.threads == threads && wanted_.subjects[one.subject].name == name &&
          !one.throughput.empty())
        return &one;
    }
    return nullptr;
  }
  std::size_t index(const cell* one) const { return static_cast<std::size_t>(one - cells_.data()); }
  bool is_array(std::size_t place) const {
    return std::strcmp(wanted_.sections[place].workload->name, "arraybench") == 0;
  }

  /// No cell where warm-up costs more than a tenth, at any number of threads.
  void no_loss(const pair_of& which, std::vector<claim>& claims) const {
    observe::interval worst{.median = 1e9, .low95 = 1e9, .high95 = 1e9, .coverage = 0};
    std::string where;
    std::vector<std::size_t> from;
    unsigned missed = 0;
    for (std::size_t place = 0; place < wanted_.sections.size(); ++place) {
      if (is_array(place)) continue;
      for (const unsigned threads : wanted_.threads) {
        const cell* const warm = of(place, threads, which.warm);
        const cell* const plain = of(place, threads, which.plain);
        if (warm == nullptr || plain == nullptr) continue;
        from.insert(from.end(), {index(warm), index(plain)});
        const observe::interval ratio = observe::ratio_interval(warm->throughput, plain->throughput);
        if (observe::misses(ratio, goal_least)) ++missed;
        if (ratio.median >= worst.median) continue;
        worst = ratio;
        where = wanted_.sections[place].name + ", " + std::to_string(threads) + " threads";
      }
    }
    if (from.empty()) return;
    claims.push_back({.id = "C2-1",
                      .words = std::string(which.warm) + " to " + which.plain + ", the worst cell (" + where + "; " +
                               std::to_string(missed) + " under it)",
                      .value = worst.median,
                      .goal = goal_least,
                      .holds = missed == 0,
                      .from = from,
                      .value_interval = worst,
                      .rule = "high95 >= goal in every cell"});
  }

  /// The geometric mean over sections whose addresses are found by running, at 2 threads.
  void found_by_running(const pair_of& which, std::vector<claim>& claims) const {
    std::vector<std::vector<double>> to_plain, to_peer;
    std::vector<std::size_t> from_plain, from_peer;
    for (std::size_t place = 0; place < wanted_.sections.size(); ++place) {
      const cell* const warm = of(place, 2, which.warm);
      const cell* const plain = of(place, 2, which.plain);
      if (is_array(place) || warm == nullptr || plain == nullptr) continue;
      to_plain.push_back(observe::ratios(warm->throughput, plain->throughput));
      from_plain.insert(from_plain.end(), {index(warm), index(plain)});
      std::vector<observe::peer_values> peers;
      from_peer.push_back(index(warm));
      for (const cell& one : cells_) {
        const workloads::subject& peer = wanted_.subjects[one.subject];
        const bool ahead = std::strstr(peer.name, ahead_mark) != nullptr;
        if (one.section != place || one.threads != 2 || !peer.peer || ahead || one.throughput.empty()) continue;
        peers.push_back({peer.name, one.throughput});
        from_peer.push_back(index(&one));
      }
      if (!peers.empty()) to_peer.push_back(observe::compare_to_best_peer(warm->throughput, peers).ratios);
    }
    const auto add = [&](const std::vector<std::vector<double>>& ratios, const std::vector<std::size_t>& from,
                         const std::string& words, double goal) {
      if (ratios.empty()) return;
      const observe::interval mean = observe::geometric_mean(ratios);
      claims.push_back({.id = "C2-1",
                        .words = std::string(which.warm) + words,
                        .value = mean.median,
                        .goal = goal,
                        .holds = !observe::misses(mean, goal),
                        .from = from,
                        .value_interval = mean,
                        .rule = "high95 >= goal"});
    };
    add(to_plain, from_plain, std::string(" to ") + which.plain + ", geometric mean of maps and tree, 2 threads",
        goal_found);
    add(to_peer, from_peer, " to the best peer, geometric mean of maps and tree, 2 threads", 1);
  }

  /// On an array, where any caller could have prefetched before lock().
  void on_array(std::size_t place, std::vector<claim>& claims) const {
    const cell* const warm = of(place, 2, "warm_ticket");
    const cell* const plain = of(place, 2, "ticket");
    if (!is_array(place) || warm == nullptr || plain == nullptr) return;
    const observe::interval ratio = observe::ratio_interval(warm->throughput, plain->throughput);
    claims.push_back({.id = "C2-2",
                      .words = "warm_ticket to ticket, " + wanted_.sections[place].name + ", 2 threads",
                      .value = ratio.median,
                      .goal = goal_array,
                      .holds = !observe::misses(ratio, goal_array),
                      .from = {index(warm), index(plain)},
                      .value_interval = ratio,
                      .rule = "high95 >= goal"});
  }

 private:
  const request& wanted_;
  const std::vector<cell>& cells_;
};

}  // namespace

std::vector<claim> make_warmup_claims(const request& wanted, const std::vector<cell>& cells) {
  const answers all(wanted, cells);
  std::vector<claim> claims;
  for (const pair_of& one : pairs) {
    all.found_by_running(one, claims);
    all.no_loss(one, claims);
  }
  for (std::size_t place = 0; place < wanted.sections.size(); ++place) all.on_array(place, claims);
  return claims;
}

}  // namespace txsync::inline TXSYNC_BACKEND::benchmarks

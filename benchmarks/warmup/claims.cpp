// SPDX-License-Identifier: Apache-2.0
#include "warmup/claims.hpp"

#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "locks/compared_rounds.hpp"
#include "observe/statistics.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

using observe::claim;

/// A lock with warm-up, and the same without.
struct pair_of {
  const char* warm;
  const char* plain;
  bool fair;  ///< asked for a gain; of the others it is written down
};
constexpr pair_of pairs[] = {{"warm_ticket", "ticket", true},
                             {"warm_mcs", "mcs", true},
                             {"warm_tatas", "tatas", false},
                             {"warm_mutex", "txsync::mutex", false}};

enum class peers : std::uint8_t { plain, all };

claim make(const char* id, const std::string& words, const observe::interval& value, double goal,
           const std::vector<std::size_t>& from) {
  claim made{.id = id, .words = words, .from = from};
  return goal > 0 ? observe::judged(std::move(made), value, goal) : observe::without_goal(std::move(made), value);
}

std::string threads_text(unsigned threads) { return std::to_string(threads) + (threads == 1 ? " thread" : " threads"); }

class answers {
 public:
  answers(const request& wanted, const std::vector<cell>& cells) : wanted_(wanted), cells_(cells) {}

  const cell* of(std::size_t place, unsigned threads, const std::string& name) const {
    for (const cell& one : cells_) {
      if (one.section == place && one.threads == threads && wanted_.subjects[one.subject].name == name) return &one;
    }
    return nullptr;
  }
  std::size_t index(const cell* one) const { return static_cast<std::size_t>(one - cells_.data()); }

  /// To the best peer of any class; nothing where there is none, or where there are too few rounds to pick one.
  std::optional<comparison> to_best_peer(const char* warm, std::size_t place, unsigned threads, peers among) const {
    const cell* const ours = of(place, threads, warm);
    std::vector<const cell*> theirs;
    for (const cell& one : cells_) {
      const workloads::subject& peer = wanted_.subjects[one.subject];
      const bool ahead = std::strstr(peer.name, ahead_mark) != nullptr;
      if (one.section != place || one.threads != threads || !peer.peer || !comparable(ours, &one)) continue;
      if (ahead && among == peers::plain) continue;
      theirs.push_back(&one);
    }
    const auto result = compare_to_best(wanted_, ours, theirs);
    if (!result) return std::nullopt;
    comparison made{warm, place, threads, std::string(result->peer_name), *result, {index(ours)}};
    for (const cell* const peer : theirs) made.from.push_back(index(peer));
    return made;
  }

  /// No cell of arrays, or of the others, where warm-up costs more than a tenth, at any number of threads.
  void no_loss(const char* id, const pair_of& which, bool arrays, std::vector<claim>& claims) const {
    std::optional<observe::interval> worst;
    std::string where;
    std::vector<std::size_t> from;
    unsigned missed = 0;
    for (std::size_t place = 0; place < wanted_.sections.size(); ++place) {
      if (is_array(wanted_, place) != arrays) continue;
      for (const unsigned threads : wanted_.threads) {
        const cell* const warm = of(place, threads, which.warm);
        const cell* const plain = of(place, threads, which.plain);
        if (!comparable(warm, plain)) continue;
        from.insert(from.end(), {index(warm), index(plain)});
        const observe::interval ratio = ratio_of(*warm, *plain);
        if (observe::judge(ratio, goal_least) == observe::outcome::missed) ++missed;
        if (worst && !observe::is_worse(ratio, *worst, goal_least)) continue;
        worst = ratio;
        where = wanted_.sections[place].name + ", " + threads_text(threads);
      }
    }
    if (!worst) return;
    const std::string words = std::string(which.warm) + " to " + which.plain + ", the worst cell of " +
                              (arrays ? "arrays" : "maps and tree") + " (" + where + "; " + std::to_string(missed) +
                              " under it)";
    claims.push_back(make(id, words, *worst, goal_least, from));
    claims.back().rule += " in the worst cell";
  }

  /// The geometric mean over sections whose addresses are found by running, at 2 threads.
  void found_by_running(const pair_of& which, std::vector<claim>& claims) const {
    std::vector<std::vector<double>> to_plain, to_peer;
    std::vector<std::size_t> from_plain, from_peer;
    for (std::size_t place = 0; place < wanted_.sections.size(); ++place) {
      const cell* const warm = of(place, 2, which.warm);
      const cell* const plain = of(place, 2, which.plain);
      if (is_array(wanted_, place) || !comparable(warm, plain)) continue;
      to_plain.push_back(ratios_of(*warm, *plain));
      from_plain.insert(from_plain.end(), {index(warm), index(plain)});
      const auto best = to_best_peer(which.warm, place, 2, peers::plain);
      if (!best) continue;
      to_peer.push_back(best->result.ratios);
      from_peer.insert(from_peer.end(), best->from.begin(), best->from.end());
    }
    const auto add = [&](const std::vector<std::vector<double>>& ratios, const std::vector<std::size_t>& from,
                         const std::string& to, double goal) {
      if (ratios.empty()) return;
      const std::string words = std::string(which.warm) + " to " + to + ", geometric mean of maps and tree, 2 threads";
      claims.push_back(make("C2-1", words, observe::geometric_mean(ratios), which.fair ? goal : 0.0, from));
    };
    add(to_plain, from_plain, which.plain, goal_found);
    add(to_peer, from_peer, "the best peer", 1);
  }

  /// On an array, where any caller could have prefetched before lock().
  void on_array(std::size_t place, std::vector<claim>& claims) const {
    const cell* const warm = of(place, 2, "warm_ticket");
    const cell* const plain = of(place, 2, "ticket");
    if (!is_array(wanted_, place) || !comparable(warm, plain)) return;
    claims.push_back(make("C2-2", "warm_ticket to ticket, " + wanted_.sections[place].name + ", 2 threads",
                          ratio_of(*warm, *plain), goal_array, {index(warm), index(plain)}));
  }

 private:
  const request& wanted_;
  const std::vector<cell>& cells_;
};

}  // namespace

bool is_array(const request& wanted, std::size_t place) {
  return std::strcmp(wanted.sections[place].workload->name, "arraybench") == 0;
}

std::vector<claim> make_warmup_claims(const request& wanted, const std::vector<cell>& cells) {
  const answers all(wanted, cells);
  std::vector<claim> claims;
  for (const pair_of& one : pairs) {
    all.found_by_running(one, claims);
    all.no_loss("C2-1", one, false, claims);
  }
  for (std::size_t place = 0; place < wanted.sections.size(); ++place) all.on_array(place, claims);
  for (const pair_of& one : pairs) all.no_loss("C2-2", one, true, claims);
  return claims;
}

std::vector<comparison> compare_on_arrays(const request& wanted, const std::vector<cell>& cells) {
  const answers all(wanted, cells);
  std::vector<comparison> compared;
  for (std::size_t place = 0; place < wanted.sections.size(); ++place) {
    if (!is_array(wanted, place)) continue;
    for (const unsigned threads : wanted.threads) {
      if (auto one = all.to_best_peer("warm_ticket", place, threads, peers::all)) compared.push_back(std::move(*one));
    }
  }
  return compared;
}

void print_on_array(std::FILE* out, const request& wanted, const std::vector<comparison>& compared, std::size_t place) {
  std::string ratios, best;
  for (const unsigned threads : wanted.threads) {
    char ratio[64] = "-";
    const char* peer = "-";
    for (const comparison& one : compared) {
      if (one.section != place || one.threads != threads) continue;
      const observe::interval& value = one.result.ratio;
      std::snprintf(ratio, sizeof ratio, "%6.2f [%.2f, %.2f]", value.median, value.low95, value.high95);
      peer = one.peer.c_str();
    }
    char column[64];
    std::snprintf(column, sizeof column, " | %-27s", ratio);
    ratios += column;
    std::snprintf(column, sizeof column, " | %-27s", peer);
    best += column;
  }
  std::fprintf(
      out, "  -- warm_ticket to the best peer, with the prefetch before lock() or without: ratio, 95 %% interval\n");
  std::fprintf(out, "  %-31s%s\n  %-31s%s\n", "ratio", ratios.c_str(), "to", best.c_str());
}

void add_on_arrays(const request& wanted, const std::vector<comparison>& compared, std::vector<claim>& claims) {
  for (const comparison& one : compared) {
    const std::string words = "warm_ticket to the best peer, with the prefetch before lock() or without, " +
                              wanted.sections[one.section].name + ", " + threads_text(one.threads) + ": " + one.peer;
    claims.push_back(make("C2-2", words, one.result.ratio, 0.0, one.from));
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

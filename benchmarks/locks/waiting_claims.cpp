// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <optional>

#include "locks/waiting.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

using observe::better;
using observe::claim;
using observe::interval;
using observe::outcome;

constexpr double max_wait_ns = 5e6;
constexpr double max_over_reference = 4;
constexpr double min_reference_ns = 1e6;
constexpr double min_share_of_long_sections = 0.5;
constexpr double min_share_of_short_sections = 0.2;
constexpr double max_recovery_ms = 100;
constexpr double max_turn_ratio = 1.2;
constexpr double min_realtime_ratio = 0.8;

/// Whether more rounds may decide an undecided claim. A3-2 (b) is about 20 rounds.
enum class rounds_are { fixed, open };

/// A claim about each of several cells: the worst cell decides.
class worst_cell {
 public:
  worst_cell(double goal, better way) : goal_(goal), way_(way) {}

  /// Only the `words` of the worst are used.
  void look(std::size_t cell, const interval& measured, const std::string& words, bool undecided = false) {
    from_.push_back(cell);
    const outcome here = undecided ? outcome::undecided : observe::judge(measured, goal_, way_);
    if (here == outcome::undecided) undecided_.push_back(cell);
    const bool as_bad = worst_ && here == outcome_ &&
                        (way_ == better::higher ? measured.median < worst_->median : measured.median > worst_->median);
    if (worst_ && here <= outcome_ && !as_bad) return;
    worst_ = measured;
    words_ = words;
    outcome_ = here;
  }
  void add_to(std::vector<waiting_claim>& claims, const char* id, const std::string& words, rounds_are of) const {
    if (!worst_) return;
    claim made =
        observe::judged({.id = id, .words = words + " (worst: " + words_ + ")", .from = from_}, *worst_, goal_, way_);
    made.outcome = outcome_;
    made.rule += " in the worst cell";
    const bool open = outcome_ == outcome::undecided && of == rounds_are::open;
    claims.push_back({std::move(made), open ? undecided_ : std::vector<std::size_t>()});
  }

 private:
  double goal_;
  better way_;
  std::vector<std::size_t> from_;
  std::vector<std::size_t> undecided_;
  std::optional<interval> worst_;
  std::string words_;
  outcome outcome_ = outcome::holds;
};

std::string milliseconds(double ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f ms", ns / 1e6);
  return text;
}

bool asks_for_one_lock(const waiting_cell& one) {
  return one.scenario == "ask" || one.scenario == "loop" || one.scenario == "wave";
}

/// (a) Turns are counted, so no wait is left out, and one wait above the bound misses the goal.
void turns_passed(const std::vector<waiting_cell>& cells, std::size_t lock, std::vector<waiting_claim>& claims) {
  const auto bound = waiting_locks()[lock].bypass_bound;
  double worst = -1;
  std::string where;
  std::vector<std::size_t> from;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].lock != lock || bound == nullptr || !asks_for_one_lock(cells[i])) continue;
    from.push_back(i);
    const std::vector<double> turns = cells[i].all("turns");
    // In a wave the two threads that were there before are waiters too.
    const unsigned threads = cells[i].threads + (cells[i].scenario == "wave" ? 2 : 0);
    const double max_turns = *std::max_element(turns.begin(), turns.end());
    const double part = max_turns / static_cast<double>(bound(threads));
    if (part <= worst) continue;
    worst = part;
    where = describe(cells[i]) + ": " + std::to_string(static_cast<unsigned long long>(max_turns)) + " of " +
            std::to_string(bound(threads));
  }
  if (from.empty()) return;
  claim made = observe::judged(
      {.id = "A3-2",
       .words = std::string(waiting_locks()[lock].name) +
                ", (a) greatest number of others' turns during a wait, as a part of the bound (worst: " + where + ")",
       .from = from},
      worst, 1, better::lower);
  claims.push_back({std::move(made), {}});
}

/// (b) The longest wait of each round as a part of what is allowed.
void max_waits(const std::vector<waiting_cell>& cells, std::size_t lock, std::vector<waiting_claim>& claims) {
  worst_cell worst(1, better::lower);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const waiting_cell* const reference = reference_of(cells, cells[i]);
    if (cells[i].lock != lock || cells[i].scenario != "ask" || reference == nullptr) continue;
    const double theirs = observe::summarize(reference->all("max_ns")).median;
    const double allowed = std::min(max_wait_ns, max_over_reference * std::max(min_reference_ns, theirs));
    std::vector<double> parts = cells[i].all("max_ns");
    const double own = observe::summarize(parts).median;
    for (double& part : parts) part /= allowed;
    const std::vector<double> removed = cells[i].all("max_was_left_out");
    const auto rounds_without = std::count(removed.begin(), removed.end(), 1.0);
    const bool undecided = static_cast<std::size_t>(rounds_without) * 4 > removed.size();
    std::string words = describe(cells[i]) + ": " + milliseconds(own) + " of " + milliseconds(allowed) + ", glibc " +
                        milliseconds(theirs);
    if (undecided) words += ", longest wait left out in " + std::to_string(rounds_without) + " rounds";
    worst.look(i, observe::median_interval(parts), words, undecided);
  }
  worst.add_to(claims, "A3-2",
               std::string(waiting_locks()[lock].name) + ", (b) longest wait as a part of what is allowed",
               rounds_are::fixed);
}

double slowest_to_fastest(const std::vector<double>& operations) {
  if (operations.empty()) return 0;
  const auto [least, greatest] = std::minmax_element(operations.begin(), operations.end());
  return *greatest == 0 ? 0 : *least / *greatest;
}

/// (c) The ratio of the slowest thread to the fastest.
void slowest_threads(const std::vector<waiting_cell>& cells, std::size_t lock, bool is_short,
                     std::vector<waiting_claim>& claims) {
  worst_cell worst(is_short ? min_share_of_short_sections : min_share_of_long_sections, better::higher);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].lock != lock || cells[i].scenario != "loop" || (cells[i].section_us < 20) != is_short) continue;
    std::vector<double> parts;
    for (const figures& round : cells[i].rounds) parts.push_back(slowest_to_fastest(round.at("operations")));
    worst.look(i, observe::median_interval(parts), describe(cells[i]));
  }
  worst.add_to(claims, "A3-2",
               std::string(waiting_locks()[lock].name) + ", (c) operations of the slowest thread to the fastest, " +
                   (is_short ? "sections of 1 us" : "sections of 20 us and more"),
               rounds_are::open);
}

/// (d) Throughput recovers, and no wait exceeds the stated bound.
void waves(const std::vector<waiting_cell>& cells, std::size_t lock, std::vector<waiting_claim>& claims) {
  worst_cell recovery(max_recovery_ms, better::lower), waits(1, better::lower);
  const auto allowed = waiting_locks()[lock].max_wait_ns;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].lock != lock || cells[i].scenario != "wave") continue;
    recovery.look(i, observe::median_interval(cells[i].all("recovery_ms")), describe(cells[i]));
    if (allowed == nullptr) continue;
    const auto limit = static_cast<double>(allowed(cells[i].threads + 2, cells[i].section_us * 1'000));
    // One wait above the bound is enough, in whatever round.
    const double own = observe::summarize(cells[i].all("max_ns")).high;
    const double part = own / limit;
    waits.look(i, {.median = part, .low95 = part, .high95 = part},
               describe(cells[i]) + ": " + milliseconds(own) + " of " + milliseconds(limit));
  }
  const std::string name = waiting_locks()[lock].name;
  recovery.add_to(claims, "A3-2", name + ", (d) milliseconds until throughput is back after the load has fallen",
                  rounds_are::open);
  waits.add_to(claims, "A3-2", name + ", (d) longest wait as a part of what the header states", rounds_are::open);
}

/// The ratio of a figure to the reference's, by the rounds that both have.
std::optional<interval> to_reference(const std::vector<waiting_cell>& cells, const waiting_cell& one,
                                     const char* figure) {
  const waiting_cell* const reference = reference_of(cells, one);
  if (reference == nullptr) return std::nullopt;
  std::vector<double> ours = one.all(figure), theirs = reference->all(figure);
  const std::size_t rounds = std::min(ours.size(), theirs.size());
  if (rounds == 0) return std::nullopt;
  ours.resize(rounds);
  theirs.resize(rounds);
  return observe::ratio_interval(ours, theirs);
}

/// A3-2.
void add_waits(const std::vector<waiting_cell>& cells, std::vector<waiting_claim>& claims) {
  for (std::size_t lock = 0; lock < reference_lock(); ++lock) {
    turns_passed(cells, lock, claims);
    max_waits(cells, lock, claims);
    slowest_threads(cells, lock, true, claims);
    slowest_threads(cells, lock, false, claims);
    waves(cells, lock, claims);
  }
}

/// A3-3: each cell has a claim of its own.
void add_hand_overs(const std::vector<waiting_cell>& cells, std::vector<waiting_claim>& claims) {
  const auto add = [&claims](claim made) {
    const std::vector<std::size_t> both = made.outcome == outcome::undecided ? made.from : std::vector<std::size_t>();
    claims.push_back({std::move(made), both});
  };
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].lock == reference_lock()) continue;
    const std::string words = std::string(waiting_locks()[cells[i].lock].name) + ", ";
    const std::size_t reference = static_cast<std::size_t>(reference_of(cells, cells[i]) - cells.data());
    if (const auto turns = to_reference(cells, cells[i], "turn_ns")) {
      const char* const where = cells[i].scenario == "pair-before" ? "signal before unlock" : "signal after unlock";
      add(observe::judged(
          {.id = "A3-3",
           .words = words + "time of a turn to glibc's, " + where + (cells[i].cpus == 1 ? ", one CPU" : ", two CPUs"),
           .from = {i, reference}},
          *turns, max_turn_ratio, better::lower));
    }
    if (const auto turns = to_reference(cells, cells[i], "high_turns")) {
      add(observe::judged(
          {.id = "A3-3",
           .words = words + "turns of a thread of priority 50 beside one of priority 5, to those with glibc",
           .from = {i, reference}},
          *turns, min_realtime_ratio));
    }
  }
}

}  // namespace

std::vector<waiting_claim> waiting_claims(const std::vector<waiting_cell>& cells) {
  std::vector<waiting_claim> claims;
  add_waits(cells, claims);
  add_hand_overs(cells, claims);
  return claims;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

// SPDX-License-Identifier: Apache-2.0
#include "sim/global_lock.hpp"

#include <stdexcept>

#include "sim/host/image.hpp"
#include "sim/models/machine_file.hpp"
#include "simulate/simulate.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

using observe::point;

constexpr unsigned all_cores = 18;
constexpr unsigned few_updates = 2;  // percent
constexpr std::uint64_t millisecond = 1'000'000;

std::vector<point> simulated(const std::vector<std::string>& locks, std::vector<unsigned> threads, unsigned updates) {
  simulate::sim_request asked;
  asked.machine_word = "broadwell-e5-2697v4";
  asked.machine = sim::load_machine(asked.machine_word);
  asked.image = sim::image_file("workloads");
  asked.bench.workload = workloads::find_workload("mapbench");
  asked.bench.values = workloads::default_parameters(*asked.bench.workload);
  const auto set = [&](const char* key, unsigned value) {
    asked.bench.values.values[workloads::find_parameter(*asked.bench.workload, key)] = value;
  };
  set("find", 100 - updates);
  set("insert", updates / 2);
  set("erase", updates / 2);
  for (const std::string& name : locks) asked.bench.locks.push_back(workloads::find_subject(name));
  asked.bench.threads = std::move(threads);
  asked.bench.plan.duration_ns = millisecond;
  asked.bench.plan.run_in_ns = millisecond / 10;  // as txsync sim has it
  asked.bench.placement = "cores-first";
  asked.bench.repeat = 1;
  measure::bench_result seen = simulate::simulate(asked);
  for (const point& one : seen.points) {
    if (one.values.empty()) throw std::runtime_error(one.subject + ": a run failed");
  }
  return std::move(seen.points);
}

/// The claims over the points of one document.
class judge {
 public:
  judge(observe::document& into, std::FILE* out) : into_(into), out_(out) {}

  /// Answers the index of the first.
  std::size_t add(const std::vector<point>& points) {
    const std::size_t first = into_.points.size();
    into_.points.insert(into_.points.end(), points.begin(), points.end());
    return first;
  }

  std::size_t find(const char* lock, unsigned threads) const {
    for (std::size_t i = 0; i < into_.points.size(); ++i) {
      const point& one = into_.points[i];
      if (one.subject == lock && one.threads == threads && !one.end_hash.empty()) return i;
    }
    throw std::runtime_error(std::string("no point of ") + lock);
  }

  /// A throughput over another's.
  void ratio(const std::string& words, std::size_t one, std::size_t beside, double goal, bool at_least) {
    const double value = into_.points[one].values.front() / into_.points[beside].values.front();
    record(observe::judged({.id = "B-1", .words = words, .from = {one, beside}}, value, goal,
                           at_least ? observe::better::higher : observe::better::lower));
  }

  void claim(const std::string& words, observe::json value, observe::json goal, bool reached,
             std::vector<std::size_t> from, const char* rule) {
    record({.id = "B-1",
            .words = words,
            .value = std::move(value),
            .goal = std::move(goal),
            .outcome = observe::judge(reached),
            .from = std::move(from),
            .rule = rule});
  }

 private:
  void record(observe::claim one) {
    char shown[32] = "";
    if (one.value.is_number()) std::snprintf(shown, sizeof shown, ": %.2f", one.value.get<double>());
    std::fprintf(out_, "B-1 %s: %s%s (%s %s)\n", observe::verdict_text(one), one.words.c_str(), shown, one.rule.c_str(),
                 one.goal.dump().c_str());
    into_.claims.push_back(std::move(one));
  }

  observe::document& into_;
  std::FILE* out_;
};

/// Of a hundred attempts.
double conflicts(const point& one) {
  if (!one.attempts || one.attempts->attempts == 0) return 0;
  for (const auto& [cause, count] : one.attempts->aborts) {
    if (cause == "conflict") return 100.0 * static_cast<double>(count) / static_cast<double>(one.attempts->attempts);
  }
  return 0;
}

void judge_conflicts(judge& over) {
  double before = -1;
  std::vector<std::size_t> from;
  std::string shares;
  bool grow = true;
  for (const unsigned updates : {0U, 2U, 10U, 20U}) {
    const std::vector<point> seen = simulated({"elided_tatas"}, {all_cores}, updates);
    from.push_back(over.add(seen));
    const double share = conflicts(seen.front());
    grow = grow && share > before;
    before = share;
    char text[64];
    std::snprintf(text, sizeof text, "%s%.1f %% at %u %%", shares.empty() ? "" : ", ", share, updates);
    shares += text;
  }
  over.claim("attempts that end by a conflict grow with updates, elided_tatas at 18 threads: " + shares, grow, true,
             grow, from, "value = goal");
}

}  // namespace

void measure_global_lock(observe::document& into, std::FILE* out) {
  const std::vector<std::string> locks{"tatas", "mcs", "elided_tatas", "lemming_tatas"};
  const std::vector<unsigned> threads{1, 2, 4, 8, 16, all_cores};
  judge over(into, out);
  const std::vector<point> first = simulated(locks, threads, few_updates);
  over.add(first);
  for (const char* plain : {"tatas", "mcs"}) {
    over.ratio(std::string("a plain ") + plain + " at 18 threads over itself at 1: flat or falling",
               over.find(plain, all_cores), over.find(plain, 1), 1.05, false);
  }
  const std::size_t elided = over.find("elided_tatas", all_cores);
  over.ratio("elided_tatas at 18 threads over itself at 2", elided, over.find("elided_tatas", 2), 3, true);
  const std::size_t lemming = over.find("lemming_tatas", all_cores);
  over.ratio("lemming_tatas at 18 threads over itself at 2: collapses", lemming, over.find("lemming_tatas", 2), 0.5,
             false);
  judge_conflicts(over);
  bool same = true;
  for (int again = 0; again < 2; ++again) {
    const std::vector<point> other = simulated(locks, threads, few_updates);
    for (std::size_t i = 0; i < first.size(); ++i) same = same && other[i].end_hash == first[i].end_hash;
  }
  over.claim("the same end hash of every run, three times", same, true, same, {elided, lemming}, "value = goal");
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

// SPDX-License-Identifier: Apache-2.0
#include "locks/table.hpp"

#include <algorithm>
#include <string>

#include "observe/document/more_rounds.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

namespace {

struct row {
  const workloads::subject* subject;
  std::vector<const cell*> by_threads;
};

double median_of(const cell* one) {
  return one == nullptr || one->throughput.empty() ? 0 : observe::summarize(one->throughput).median;
}

/// The thread with the fewest operations to the one with the most, over all rounds.
double fairness(const cell& one) {
  double fewest = 0, most = 0;
  for (std::size_t i = 0; i < one.fewest.size(); ++i) {
    fewest += static_cast<double>(one.fewest[i]);
    most += static_cast<double>(one.most[i]);
  }
  return most > 0 ? fewest / most : 0;
}

void print_row(std::FILE* out, const row& line) {
  std::fprintf(out, "  %-26s %s", line.subject->name, line.subject->peer ? "peer" : "ours");
  for (const cell* one : line.by_threads) {
    if (one == nullptr || one->throughput.empty()) {
      std::fprintf(out, " | %27s", one != nullptr && !one->faults.empty() ? "WRONG RESULT" : "-");
      continue;
    }
    const observe::summary all = observe::summarize(one->throughput);
    std::fprintf(out, " | %6.2f (%6.2f-%6.2f) %4.2f", all.median / 1e6, all.low / 1e6, all.high / 1e6, fairness(*one));
  }
  std::fprintf(out, "\n");
}

void print_class(std::FILE* out, const request& wanted, const std::vector<cell>& cells, std::size_t section_index,
                 workloads::waiting how, const char* title) {
  std::vector<row> rows;
  for (std::size_t subject = 0; subject < wanted.subjects.size(); ++subject) {
    if (wanted.subjects[subject].how != how) continue;
    row line{&wanted.subjects[subject], {}};
    bool any = false;
    for (const unsigned threads : wanted.threads) {
      line.by_threads.push_back(find_cell(cells, section_index, threads, subject));
      any = any || line.by_threads.back() != nullptr;
    }
    if (any) rows.push_back(line);
  }
  if (rows.empty()) return;
  // By the geometric mean over the thread counts, best first.
  const auto product = [](const row& line) {
    double all = 1;
    for (const cell* one : line.by_threads) all *= std::max(median_of(one), 1.0);
    return all;
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const row& a, const row& b) { return product(a) > product(b); });
  std::fprintf(out, "  -- %s\n", title);
  for (const row& line : rows) print_row(out, line);
}

/// The fairness of one section's cells, by threads and then in the order of the subjects.
void print_fairness(std::FILE* out, const request& wanted, const std::vector<cell>& cells, std::size_t section_index) {
  std::fprintf(out, "  -- fairness\n  %-26s %7s  %s\n", "lock", "threads", observe::fairness_head);
  for (const unsigned threads : wanted.threads) {
    for (std::size_t subject = 0; threads > 1 && subject < wanted.subjects.size(); ++subject) {
      const cell* const one = find_cell(cells, section_index, threads, subject);
      if (one == nullptr || one->fairness.slowest_share.empty()) continue;
      std::fprintf(out, "  %-26s %7u  %s\n", wanted.subjects[subject].name, threads,
                   observe::fairness_text(one->fairness).c_str());
    }
  }
}

void print_line_transfer(std::FILE* out, const std::vector<double>& took_ns) {
  if (took_ns.empty()) return;
  const observe::summary all = observe::summarize(took_ns);
  std::fprintf(out, "A cache line goes from one CPU to the other in %.0f ns (%.0f-%.0f, measured before each round).\n",
               all.median, all.low, all.high);
}

}  // namespace

void print_sections(std::FILE* out, const request& wanted, const measured& all, const more_rows& more) {
  std::fprintf(
      out,
      "Million sections/s: median (lowest-highest) of %u rounds, and of up to %u where a claim was undecided; then\n"
      "fairness: operations of the thread with the fewest to those of the one with the most. Higher is better.\n",
      wanted.rounds, wanted.rounds * observe::max_round_factor);
  if (wanted.times_waits) std::fprintf(out, "In the tables of fairness:\n%s", observe::fairness_legend);
  print_line_transfer(out, all.line_transfer_ns);
  for (std::size_t section_index = 0; section_index < wanted.sections.size(); ++section_index) {
    const section& here = wanted.sections[section_index];
    std::fprintf(out, "\n%s: %s\n  %-31s", here.name.c_str(), here.workload->summary, "");
    for (const unsigned threads : wanted.threads) {
      const std::string title = std::to_string(threads) + (threads == 1 ? " thread" : " threads");
      std::fprintf(out, " | %-27s", title.c_str());
    }
    std::fprintf(out, "\n");
    print_class(out, wanted, all.cells, section_index, workloads::waiting::parks, "waiters sleep");
    print_class(out, wanted, all.cells, section_index, workloads::waiting::spins, "waiters spin");
    print_class(out, wanted, all.cells, section_index, workloads::waiting::none, "outside the ranking");
    if (wanted.times_waits) print_fairness(out, wanted, all.cells, section_index);
    if (more) more(out, section_index);
  }
}

void print_ratios(std::FILE* out, const request& wanted, const std::vector<comparison>& compared) {
  if (compared.empty()) return;
  std::fprintf(out, "\nRatio to the best peer of its class (chosen in odd rounds, compared in even ones):\n");
  std::fprintf(out, "  %-14s %-12s %7s  %-22s %s\n", "lock", "section", "threads", "best peer",
               "ratio [95 % interval]");
  for (const comparison& one : compared) {
    const observe::interval& ratio = one.result.ratio;
    std::fprintf(out, "  %-14s %-12s %7u  %-22s %5.2f [%.2f, %.2f]%s\n", one.subject.c_str(),
                 wanted.sections[one.section].name.c_str(), one.threads, one.peer.c_str(), ratio.median, ratio.low95,
                 ratio.high95, observe::judge(ratio, lowest_ratio) == observe::outcome::missed ? "  MISSED" : "");
  }
}

void print_costs_of_bound(std::FILE* out, const request& wanted, const std::vector<bound_cost>& costs) {
  if (costs.empty()) return;
  std::fprintf(out,
               "\nCost of the bound: throughput of futex to that of 'unbounded futex', its previous version (A3-4):\n"
               "  %-12s %7s  %s\n",
               "section", "threads", "ratio [95 % interval]");
  for (const bound_cost& one : costs) {
    std::fprintf(out, "  %-12s %7u  %5.2f [%.2f, %.2f]\n", wanted.sections[one.section].name.c_str(), one.threads,
                 one.ratio.median, one.ratio.low95, one.ratio.high95);
  }
}

void print_claims(std::FILE* out, const std::vector<observe::claim>& claims) {
  std::fprintf(out, "\n");
  for (const observe::claim& one : claims) {
    std::fprintf(out, "%s %-9s %s: ", one.id.c_str(), observe::verdict_text(one), one.words.c_str());
    if (one.value_interval) {
      std::fprintf(out, "%.3f [%.3f, %.3f]", one.value_interval->median, one.value_interval->low95,
                   one.value_interval->high95);
    } else {
      std::fprintf(out, "%s", one.value.dump().c_str());
    }
    const std::string goal = one.rule == observe::no_goal ? "no goal" : "goal " + one.goal.dump();
    std::fprintf(out, " (%s)\n", goal.c_str());
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

// SPDX-License-Identifier: Apache-2.0
// What `txsync tune` prints for people.
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/words.hpp"
#include "cli/site_programs.hpp"
#include "cli/tune_table.hpp"
#include "observe/document/printable.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
using base::words;

namespace {

std::string figures(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string range(double low, double high) { return figures(low) + " to " + figures(high); }

/// The end of a long name: the site's own configuration stands there.
std::string shown_name(const tune::table_row& row) {
  constexpr std::size_t most = 60;
  std::string name = observe::printable(tune::name_of(row.arm->config));
  return name.size() <= most ? name : "..." + name.substr(name.size() - (most - 3));
}

/// The median over the rounds; "-" if nothing was counted.
std::string max_wait_text(const tune::fairness_record& record) {
  if (record.rounds.empty()) return "-";
  std::vector<double> waits;
  waits.reserve(record.rounds.size());
  for (const tune::round_fairness& one : record.rounds) waits.push_back(static_cast<double>(one.max_wait_ns) / 1e6);
  const double median = observe::summarize(waits).median;
  return median < 1000 ? figures(median) + " ms" : figures(median / 1000) + " s";
}

void print_row(std::FILE* out, const tune::table_row& row, int width, double by) {
  const std::vector<double>& values = row.arm->values;
  std::string median = "-";
  std::string interval;
  if (!values.empty()) {
    const observe::interval found = observe::median_interval(values);
    median = figures(found.median / by);
    interval = range(found.low95 / by, found.high95 / by);
  }
  const bool ratio = row.ratio.median != 0;
  std::fprintf(out, "  %-*s %10s  %-20s %8s  %-16s %6zu %10s  %s\n", width, shown_name(row).c_str(), median.c_str(),
               interval.c_str(), ratio ? figures(row.ratio.median).c_str() : "",
               ratio ? range(row.ratio.low95, row.ratio.high95).c_str() : "", values.size(),
               max_wait_text(row.arm->fairness).c_str(), row.status.c_str());
}

/// A divisor that keeps the values readable, and the unit for it.
std::pair<double, std::string> scaled(const std::vector<tune::table_row>& table, const std::string& unit) {
  double greatest = 0;
  for (const tune::table_row& row : table) {
    for (const double value : row.arm->values) greatest = std::max(greatest, value);
  }
  if (unit == "s" && greatest < 1) return {1e-3, "ms"};
  return greatest >= 1e6 ? std::pair{1e6, "million " + unit} : std::pair{1.0, unit};
}

}  // namespace

tune_progress::tune_progress() : terminal_(isatty(STDERR_FILENO) == 1) {}

tune_progress::~tune_progress() {
  if (open_) std::fprintf(stderr, "\r\033[K");
}

void tune_progress::show(const tune::progress& now, double seconds) {
  std::string line = observe::printable(now.phase);
  if (now.round != 0) {
    line += ", round " + std::to_string(now.round) + " of " + std::to_string(now.rounds) + ", " +
            std::to_string(now.left) + " left";
  }
  char time[32];
  std::snprintf(time, sizeof time, "%.0f s", seconds);
  if (terminal_) {
    const std::string whole = std::string("txsync tune: ") + time + ": " + line + ": " + now.running;
    std::fprintf(stderr, "\r\033[K%.*s", 118, whole.c_str());
    open_ = true;
  } else if (line != last_) {
    std::fprintf(stderr, "txsync tune: %s: %s\n", time, line.c_str());
  }
  std::fflush(stderr);
  last_ = line;
}

void tune_progress::log(const std::string& line) {
  std::fprintf(stderr, "%stxsync tune: %s\n", open_ ? "\r\033[K" : "", line.c_str());
  std::fflush(stderr);
  open_ = false;
}

std::string expectation_words(const tune::expected_time& time) {
  constexpr double min_said_seconds = 300;
  if (time.max_seconds <= min_said_seconds) return {};
  const bool in_hours = time.max_seconds >= 2 * 3600;
  const auto in_unit = [&](double seconds) {
    return in_hours ? figures(std::ceil(seconds / 360) / 10) : figures(std::ceil(seconds / 60));
  };
  const std::string min_words = in_unit(time.min_seconds);
  const std::string max_words = in_unit(time.max_seconds);
  return "one run takes " + figures(std::round(time.run_seconds * 100) / 100) + " s; the whole command takes about " +
         (min_words == max_words ? max_words : min_words + " to " + max_words) + (in_hours ? " hours" : " minutes") +
         "; --time SECONDS limits it";
}

namespace {

/// Where threads wait under the reference. If nothing can be counted there: under the run that chose the sites.
void print_waiting(std::FILE* out, const tune::outcome& found) {
  constexpr std::size_t max_named = 3;
  const bool under_reference = !found.reference_sites.empty();
  const std::vector<tune::site_seen>& sites = under_reference ? found.reference_sites : found.sites;
  double all = 0;
  std::vector<observe::site_record> counted;
  for (const tune::site_seen& one : sites) {
    all += static_cast<double>(one.counted.all_wait_ns());
    counted.push_back(one.counted);
  }
  if (all == 0) return;
  const bool several = several_programs_waited(counted);
  std::string words;
  for (std::size_t i = 0; i < std::min(max_named, sites.size()) && sites[i].counted.all_wait_ns() != 0; ++i) {
    const double percent = 100 * static_cast<double>(sites[i].counted.all_wait_ns()) / all;
    words += (i == 0 ? "" : ", ") + name_with_programs(sites[i].counted, several) + " (" + figures(percent) +
             " % of all waiting)";
  }
  std::fprintf(out, "\nThreads waited most at%s: %s\n", under_reference ? ", under what you have" : "",
               observe::printable(words).c_str());
}

void print_left_out(std::FILE* out, const tune::described& what) {
  for (const tune::left_out& one : what.others) {
    std::string names;
    for (const std::string& name : one.names) names += (names.empty() ? "" : ", ") + name;
    std::fprintf(out, "\nleft out: %s: %s\n", names.c_str(), one.reason.c_str());
  }
}

}  // namespace

void print_table(std::FILE* out, const tune::outcome& found, const tune::described& what) {
  const std::vector<tune::table_row> table = tune::table_of(found, what.way);
  std::size_t width = 9;
  for (const tune::table_row& row : table) width = std::max(width, shown_name(row).size());
  const auto [by, unit] = scaled(table, what.unit);
  if (!table.empty()) {
    std::fprintf(out,
                 "%s of %s, %s (%s is better); ratio: to the first of its block, by rounds; more than 1 is better\n",
                 what.metric.c_str(), observe::printable(what.workload).c_str(), unit.c_str(),
                 what.way == observe::better::lower ? "lower" : "higher");
  }
  std::string phase;
  for (const tune::table_row& row : table) {
    if (row.phase != phase) {
      phase = row.phase;
      std::fprintf(out, "\n%s\n  %-*s %10s  %-20s %8s  %-16s %6s %10s  %s\n", observe::printable(phase).c_str(),
                   static_cast<int>(width), "candidate", "median", "interval", "ratio", "interval", "rounds",
                   "max wait", "status");
    }
    print_row(out, row, static_cast<int>(width), by);
  }
  print_waiting(out, found);
  print_left_out(out, what);
  for (const std::string& sentence : tune::refusal_words(found))
    std::fprintf(out, "\n%s\n", observe::printable(sentence).c_str());
  if (!found.cut_short.empty()) std::fprintf(out, "\n%s\n", tune::time_words(found).c_str());
  if (!what.crowd.empty())
    std::fprintf(out, "\n%s: intervals are wider than on a machine of its own\n", what.crowd.c_str());
  if (!what.warnings.empty()) std::fputc('\n', out);
  for (const std::string& warning : what.warnings)
    std::fprintf(out, "warning: the verdict may be worth nothing: %s\n", observe::printable(warning).c_str());
  std::fprintf(out, "%s%s\n", table.empty() ? "" : "\n", observe::printable(tune::verdict_words(found, what)).c_str());
  std::fflush(out);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli

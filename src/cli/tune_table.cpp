// SPDX-License-Identifier: Apache-2.0
// What `txsync tune` prints for people.
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/print.hpp"
#include "cli/site_programs.hpp"
#include "cli/tune_table.hpp"
#include "observe/document/printable.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
namespace {

std::string figures(double value) { return fmt::format("{:.4g}", value); }

std::string range(double low, double high) { return fmt::format("{:.4g} to {:.4g}", low, high); }

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

void print_row(std::FILE* out, const tune::table_row& row, std::size_t width, double by) {
  const std::vector<double>& values = row.arm->values;
  std::string median = "-";
  std::string interval;
  if (!values.empty()) {
    const observe::interval found = observe::median_interval(values);
    median = figures(found.median / by);
    interval = range(found.low95 / by, found.high95 / by);
  }
  const bool ratio = row.ratio.median != 0;
  base::print(out, "  {} {:>10}  {:20} {:>8}  {:16} {:6} {:>10}  {}\n", base::padded(shown_name(row), width), median,
              interval, ratio ? figures(row.ratio.median) : "", ratio ? range(row.ratio.low95, row.ratio.high95) : "",
              values.size(), max_wait_text(row.arm->fairness), row.status);
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
  if (open_) std::fputs("\r\033[K", stderr);
}

void tune_progress::show(const tune::progress& now, double seconds) {
  std::string line = observe::printable(now.phase);
  if (now.round != 0) line += fmt::format(", round {} of {}, {} left", now.round, now.rounds, now.left);
  const std::string timed = fmt::format("txsync tune: {:.0f} s: {}", seconds, line);
  if (terminal_) {
    base::print(stderr, "\r\033[K{}", (timed + ": " + now.running).substr(0, 118));
    open_ = true;
  } else if (line != last_) {
    base::print(stderr, "{}\n", timed);
  }
  std::fflush(stderr);
  last_ = line;
}

void tune_progress::log(const std::string& line) {
  base::print(stderr, "{}txsync tune: {}\n", open_ ? "\r\033[K" : "", line);
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
  return fmt::format("one run takes {:.4g} s; the whole command takes about {} {}; --time SECONDS limits it",
                     std::round(time.run_seconds * 100) / 100,
                     min_words == max_words ? max_words : min_words + " to " + max_words,
                     in_hours ? "hours" : "minutes");
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
    words += fmt::format("{}{} ({:.4g} % of all waiting)", i == 0 ? "" : ", ",
                         name_with_programs(sites[i].counted, several), percent);
  }
  base::print(out, "\nThreads waited most at{}: {}\n", under_reference ? ", under what you have" : "",
              observe::printable(words));
}

void print_left_out(std::FILE* out, const tune::described& what) {
  for (const tune::left_out& one : what.others) {
    std::string names;
    for (const std::string& name : one.names) names += (names.empty() ? "" : ", ") + name;
    base::print(out, "\nleft out: {}: {}\n", names, one.reason);
  }
}

}  // namespace

void print_table(std::FILE* out, const tune::outcome& found, const tune::described& what) {
  const std::vector<tune::table_row> table = tune::table_of(found, what.way);
  std::size_t width = 9;
  for (const tune::table_row& row : table) width = std::max(width, shown_name(row).size());
  const auto [by, unit] = scaled(table, what.unit);
  if (!table.empty()) {
    base::print(
        out, "{} of {}, {} ({} is better); ratio: to the first of its block, by rounds; more than 1 is better\n",
        what.metric, observe::printable(what.workload), unit, what.way == observe::better::lower ? "lower" : "higher");
  }
  std::string phase;
  for (const tune::table_row& row : table) {
    if (row.phase != phase) {
      phase = row.phase;
      base::print(out, "\n{}\n  {:{}} {:>10}  {:20} {:>8}  {:16} {:>6} {:>10}  status\n", observe::printable(phase),
                  "candidate", width, "median", "interval", "ratio", "interval", "rounds", "max wait");
    }
    print_row(out, row, width, by);
  }
  print_waiting(out, found);
  print_left_out(out, what);
  for (const std::string& sentence : tune::refusal_words(found))
    base::print(out, "\n{}\n", observe::printable(sentence));
  if (!found.cut_short.empty()) base::print(out, "\n{}\n", tune::time_words(found));
  if (!what.crowd.empty()) base::print(out, "\n{}: intervals are wider than on a machine of its own\n", what.crowd);
  if (!what.warnings.empty()) std::fputc('\n', out);
  for (const std::string& warning : what.warnings)
    base::print(out, "warning: the verdict may be worth nothing: {}\n", observe::printable(warning));
  base::print(out, "{}{}\n", table.empty() ? "" : "\n", observe::printable(tune::verdict_words(found, what)));
  std::fflush(out);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli

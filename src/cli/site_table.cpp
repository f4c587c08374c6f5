// SPDX-License-Identifier: Apache-2.0
#include "cli/site_table.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>

#include <fmt/core.h>

#include "base/print.hpp"
#include "observe/commit_counts.hpp"
#include "observe/document/printable.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
namespace {

double percent(double part, double whole) { return whole == 0 ? 0 : 100 * std::min(part / whole, 1.0); }
double as_double(std::uint64_t number) { return static_cast<double>(number); }

void print_more(std::FILE* out, std::size_t all, std::size_t shown) {
  if (all > shown) base::print(out, "... and {} more\n", all - shown);
}

bool is_barrier(const site_row& row) { return row.site->kind == "barrier"; }

/// In nanoseconds, with its significant digits; "-" if nothing was sampled.
std::string shown(const observe::percentile_record& times, const char* name) {
  return times.samples == 0 ? "-" : std::to_string(std::llround(observe::carried_figures(percentile(times, name))));
}

/// "-" if nobody counted what it is made of.
std::string figure(bool is_known, int digits, double value) {
  return is_known ? fmt::format("{:.{}f}", value, digits) : "-";
}

void print_row(std::FILE* out, std::size_t width, const site_row& row, double all_waiting) {
  const observe::site_record& site = *row.site;
  const bool is_known = site.counts_waits();
  const double waiting = as_double(site.all_wait_ns());
  base::print(
      out, "{}{:13} {:>10} {:>11} {:>9} {:>10} {:>11} {:>11} {:>10} {:>11}  {}\n", base::padded(row.lead, width),
      site.acquisitions, figure(is_known, 2, percent(as_double(site.contended), as_double(site.watched()))),
      figure(is_known, 3, waiting / 1e9), figure(is_known, 1, percent(waiting, all_waiting)), shown(site.wait, "p50"),
      shown(site.wait, "p99"), site.max_wait_ns == 0 ? "-" : std::to_string(site.max_wait_ns), shown(site.hold, "p50"),
      shown(site.hold, "p99"), observe::printable(site.name));
}

void print_conditions(std::FILE* out, std::size_t width, const std::string& lead_heading, std::vector<site_row> rows,
                      std::size_t most) {
  std::erase_if(rows, [](const site_row& row) { return row.site->condition_waits == 0; });
  if (rows.empty()) return;
  std::sort(rows.begin(), rows.end(), [](const site_row& a, const site_row& b) {
    return std::tie(b.site->condition_wait_ns, a.site->name) < std::tie(a.site->condition_wait_ns, b.site->name);
  });
  const bool barriers = std::any_of(rows.begin(), rows.end(), is_barrier);
  base::print(out, "\nwaits on conditions{} (not for locks)\n{:{}}{:>13} {:>22}  site of the mutex{}\n",
              barriers ? " and at barriers" : "", lead_heading, width, "waits", "waiters x time, s",
              barriers ? " or barrier" : "");
  for (std::size_t i = 0; i < rows.size() && i < most; ++i) {
    const observe::site_record& site = *rows[i].site;
    base::print(out, "{}{:13} {:>22.3f}  {}{}\n", base::padded(rows[i].lead, width), site.condition_waits,
                as_double(site.condition_wait_ns) / 1e9, is_barrier(rows[i]) ? "barrier " : "",
                observe::printable(site.name));
  }
  print_more(out, rows.size(), most);
}

/// "conflict 61 %, lock-busy 30 %": shares of all that were begun, the most frequent first.
std::string causes_of(std::vector<std::pair<std::string, std::uint64_t>> causes, std::uint64_t begun) {
  constexpr std::size_t max_named = 4;
  std::stable_sort(causes.begin(), causes.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string made;
  for (std::size_t i = 0; i < causes.size() && i < max_named; ++i) {
    made += fmt::format("{}{} {:.1f} %", i == 0 ? "" : ", ", causes[i].first,
                        percent(as_double(causes[i].second), as_double(begun)));
  }
  if (causes.size() > max_named) made += ", ...";
  return made.empty() ? "-" : made;
}

void print_speculation(std::FILE* out, std::size_t width, const std::string& lead_heading, std::vector<site_row> rows,
                       std::size_t most) {
  std::erase_if(rows, [](const site_row& row) { return !row.site->speculation; });
  if (rows.empty()) return;
  const auto counted = [](const site_row& row) {
    return row.site->speculation.value_or(observe::speculation_record());
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const site_row& a, const site_row& b) { return counted(a).attempts > counted(b).attempts; });
  base::print(out,
              "\ncritical sections and atomic blocks as hardware transactions (lost: one section in {} is timed)\n",
              observe::timing_period);
  base::print(out, "{:{}}{:>12} {:>11} {:>12} {:>12} {:>20}\n", "", width, "", "committed", "fallbacks", "after",
              "lost, s");
  base::print(out, "{:{}}{:>12} {:>11} {:>12} {:>12} {:>20}  site; aborts by first cause, of the attempts\n",
              lead_heading, width, "attempts", "%", "in all", "attempts", "(standard error)");
  for (std::size_t i = 0; i < rows.size() && i < most; ++i) {
    const observe::speculation_record one = counted(rows[i]);
    const std::string lost =
        one.lost_is_vague() ? "-"
                            : fmt::format("{:.3f} ({:.3f})", as_double(one.lost_ns) / 1e9, one.lost_error_ns / 1e9);
    base::print(out, "{}{:12} {:>11.1f} {:12} {:12} {:>20}  {}; {}\n", base::padded(rows[i].lead, width), one.attempts,
                percent(as_double(one.commits), as_double(one.attempts)), one.fallbacks, one.failed, lost,
                observe::printable(rows[i].site->name), causes_of(one.aborts, one.attempts));
  }
  print_more(out, rows.size(), most);
}

std::uint64_t begun(const observe::transaction_record& one) {
  std::uint64_t sum = one.commits;
  for (const auto& [cause, count] : one.aborts) sum += count;
  return sum;
}

void print_transactions(std::FILE* out, std::size_t width, const std::string& lead_heading, std::vector<site_row> rows,
                        std::size_t most) {
  std::erase_if(rows, [](const site_row& row) { return !row.site->transactions; });
  if (rows.empty()) return;
  const auto counted = [](const site_row& row) {
    return row.site->transactions.value_or(observe::transaction_record());
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const site_row& a, const site_row& b) { return begun(counted(a)) > begun(counted(b)); });
  base::print(
      out,
      "\natomic blocks in software\n{:{}}{:>12} {:>11} {:>12} {:>12}  site; aborts by cause, of the transactions\n",
      lead_heading, width, "transactions", "committed %", "serially", "slept");
  for (std::size_t i = 0; i < rows.size() && i < most; ++i) {
    const observe::transaction_record one = counted(rows[i]);
    base::print(out, "{}{:12} {:>11.1f} {:12} {:12}  {}; {}\n", base::padded(rows[i].lead, width), begun(one),
                percent(as_double(one.commits), as_double(begun(one))), one.alone, one.waits,
                observe::printable(rows[i].site->name), causes_of(one.aborts, begun(one)));
  }
  print_more(out, rows.size(), most);
}

void print_warm_ups(std::FILE* out, std::size_t width, const std::string& lead_heading, std::vector<site_row> rows,
                    std::size_t most) {
  std::erase_if(rows, [](const site_row& row) { return !row.site->warm_ups; });
  if (rows.empty()) return;
  const auto counted = [](const site_row& row) { return row.site->warm_ups.value_or(observe::warm_record()); };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const site_row& a, const site_row& b) { return counted(a).ns > counted(b).ns; });
  base::print(out,
              "\nwarm-ups (critical sections run ahead of time by waiters)\n"
              "{:{}}{:>12} {:>12} {:>11}  site; ends of attempts by first cause (explicit: run to the end)\n",
              lead_heading, width, "warm-ups", "in attempts", "time, s");
  for (std::size_t i = 0; i < rows.size() && i < most; ++i) {
    const observe::warm_record one = counted(rows[i]);
    base::print(out, "{}{:12} {:12} {:>11.3f}  {}; {}\n", base::padded(rows[i].lead, width), one.runs, one.attempts,
                as_double(one.ns) / 1e9, observe::printable(rows[i].site->name), causes_of(one.aborts, one.attempts));
  }
  print_more(out, rows.size(), most);
}

}  // namespace

double percentile(const observe::percentile_record& times, const char* name) {
  for (const auto& [known, value] : times.values) {
    if (known == name) return value;
  }
  return 0;
}

void print_site_table(std::FILE* out, const std::string& lead_heading, const std::vector<site_row>& all,
                      std::size_t most) {
  std::vector<site_row> rows;
  std::copy_if(all.begin(), all.end(), std::back_inserter(rows),
               [](const site_row& row) { return !is_barrier(row) && !row.site->is_block(); });
  std::size_t width = lead_heading.size();
  std::map<std::string, double> waiting;
  for (const site_row& row : rows) {
    width = std::max(width, row.lead.size());
    waiting[row.lead] += as_double(row.site->all_wait_ns());
  }
  base::print(out, "{:{}}{:>13} {:>10} {:>11} {:>9} {:>10} {:>11} {:>11} {:>10} {:>11}\n", "", width, "", "contended",
              "waiters x", "of all", "wait, ns", "", "", "hold, ns", "");
  base::print(out, "{:{}}{:>13} {:>10} {:>11} {:>9} {:>10} {:>11} {:>11} {:>10} {:>11}  site\n", lead_heading, width,
              "acquisitions", "%", "time, s", "waiting %", "p50", "p99", "max", "p50", "p99");
  for (std::size_t i = 0; i < rows.size() && i < most; ++i) print_row(out, width, rows[i], waiting[rows[i].lead]);
  print_more(out, rows.size(), most);
  observe::print_block_paths(out, lead_heading, width, all, most);
  print_speculation(out, width, lead_heading, all, most);
  print_transactions(out, width, lead_heading, all, most);
  print_warm_ups(out, width, lead_heading, all, most);
  print_conditions(out, width, lead_heading, all, most);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli

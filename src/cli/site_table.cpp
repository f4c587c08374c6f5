// SPDX-License-Identifier: Apache-2.0
#include "cli/site_table.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>

#include "observe/commit_counts.hpp"
#include "observe/document/printable.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
namespace {

double percent(double part, double whole) { return whole == 0 ? 0 : 100 * std::min(part / whole, 1.0); }
double as_double(std::uint64_t number) { return static_cast<double>(number); }

void print_more(std::FILE* out, std::size_t all, std::size_t shown) {
  if (all > shown) std::fprintf(out, "... and %zu more\n", all - shown);
}

bool is_barrier(const site_row& row) { return row.site->kind == "barrier"; }

/// In nanoseconds, with its significant digits; "-" if nothing was sampled.
std::string shown(const observe::percentile_record& times, const char* name) {
  return times.samples == 0 ? "-" : std::to_string(std::llround(observe::carried_figures(percentile(times, name))));
}

/// "-" if nobody counted what it is made of.
std::string figure(bool is_known, int digits, double value) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return is_known ? text : "-";
}

void print_row(std::FILE* out, int width, const site_row& row, double all_waiting) {
  const observe::site_record& site = *row.site;
  const bool is_known = site.counts_waits();
  const double waiting = as_double(site.all_wait_ns());
  std::fprintf(out, "%-*s%13llu %10s %11s %9s %10s %11s %11s %10s %11s  %s\n", width, row.lead.c_str(),
               static_cast<unsigned long long>(site.acquisitions),
               figure(is_known, 2, percent(as_double(site.contended), as_double(site.watched()))).c_str(),
               figure(is_known, 3, waiting / 1e9).c_str(), figure(is_known, 1, percent(waiting, all_waiting)).c_str(),
               shown(site.wait, "p50").c_str(), shown(site.wait, "p99").c_str(),
               (site.max_wait_ns == 0 ? "-" : std::to_string(site.max_wait_ns)).c_str(),
               shown(site.hold, "p50").c_str(), shown(site.hold, "p99").c_str(), observe::printable(site.name).c_str());
}

void print_conditions(std::FILE* out, int width, const std::string& lead_heading, std::vector<site_row> rows,
                      std::size_t most) {
  std::erase_if(rows, [](const site_row& row) { return row.site->condition_waits == 0; });
  if (rows.empty()) return;
  std::sort(rows.begin(), rows.end(), [](const site_row& a, const site_row& b) {
    return std::tie(b.site->condition_wait_ns, a.site->name) < std::tie(a.site->condition_wait_ns, b.site->name);
  });
  const bool barriers = std::any_of(rows.begin(), rows.end(), is_barrier);
  std::fprintf(out, "\nwaits on conditions%s (not for locks)\n%-*s%13s %22s  site of the mutex%s\n",
               barriers ? " and at barriers" : "", width, lead_heading.c_str(), "waits", "waiters x time, s",
               barriers ? " or barrier" : "");
  for (std::size_t i = 0; i < rows.size() && i < most; ++i) {
    const observe::site_record& site = *rows[i].site;
    std::fprintf(out, "%-*s%13llu %22.3f  %s\n", width, rows[i].lead.c_str(),
                 static_cast<unsigned long long>(site.condition_waits), as_double(site.condition_wait_ns) / 1e9,
                 (std::string(is_barrier(rows[i]) ? "barrier " : "") + observe::printable(site.name)).c_str());
  }
  print_more(out, rows.size(), most);
}

/// "conflict 61 %, lock-busy 30 %": shares of all that were begun, the most frequent first.
std::string causes_of(std::vector<std::pair<std::string, std::uint64_t>> causes, std::uint64_t begun) {
  constexpr std::size_t max_named = 4;
  std::stable_sort(causes.begin(), causes.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string made;
  for (std::size_t i = 0; i < causes.size() && i < max_named; ++i) {
    char part[64];
    std::snprintf(part, sizeof part, "%s%s %.1f %%", i == 0 ? "" : ", ", causes[i].first.c_str(),
                  percent(as_double(causes[i].second), as_double(begun)));
    made += part;
  }
  if (causes.size() > max_named) made += ", ...";
  return made.empty() ? "-" : made;
}

void print_speculation(std::FILE* out, int width, const std::string& lead_heading, std::vector<site_row> rows,
                       std::size_t most) {
  std::erase_if(rows, [](const site_row& row) { return !row.site->speculation; });
  if (rows.empty()) return;
  const auto counted = [](const site_row& row) {
    return row.site->speculation.value_or(observe::speculation_record());
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const site_row& a, const site_row& b) { return counted(a).attempts > counted(b).attempts; });
  std::fprintf(out,
               "\ncritical sections and atomic blocks as hardware transactions (lost: one section in %u is timed)\n",
               observe::timing_period);
  std::fprintf(out, "%*s%12s %11s %12s %12s %20s\n", width, "", "", "committed", "fallbacks", "after", "lost, s");
  std::fprintf(out, "%-*s%12s %11s %12s %12s %20s  site; aborts by first cause, of the attempts\n", width,
               lead_heading.c_str(), "attempts", "%", "in all", "attempts", "(standard error)");
  for (std::size_t i = 0; i < rows.size() && i < most; ++i) {
    const observe::speculation_record one = counted(rows[i]);
    char lost[48];
    std::snprintf(lost, sizeof lost, "%.3f (%.3f)", as_double(one.lost_ns) / 1e9, one.lost_error_ns / 1e9);
    if (one.lost_is_vague()) std::snprintf(lost, sizeof lost, "-");
    std::fprintf(out, "%-*s%12llu %11.1f %12llu %12llu %20s  %s; %s\n", width, rows[i].lead.c_str(),
                 static_cast<unsigned long long>(one.attempts),
                 percent(as_double(one.commits), as_double(one.attempts)),
                 static_cast<unsigned long long>(one.fallbacks), static_cast<unsigned long long>(one.failed), lost,
                 observe::printable(rows[i].site->name).c_str(), causes_of(one.aborts, one.attempts).c_str());
  }
  print_more(out, rows.size(), most);
}

std::uint64_t begun(const observe::transaction_record& one) {
  std::uint64_t sum = one.commits;
  for (const auto& [cause, count] : one.aborts) sum += count;
  return sum;
}

void print_transactions(std::FILE* out, int width, const std::string& lead_heading, std::vector<site_row> rows,
                        std::size_t most) {
  std::erase_if(rows, [](const site_row& row) { return !row.site->transactions; });
  if (rows.empty()) return;
  const auto counted = [](const site_row& row) {
    return row.site->transactions.value_or(observe::transaction_record());
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const site_row& a, const site_row& b) { return begun(counted(a)) > begun(counted(b)); });
  std::fprintf(out,
               "\natomic blocks in software\n%-*s%12s %11s %12s %12s  site; aborts by cause, of the transactions\n",
               width, lead_heading.c_str(), "transactions", "committed %", "ran alone", "slept");
  for (std::size_t i = 0; i < rows.size() && i < most; ++i) {
    const observe::transaction_record one = counted(rows[i]);
    std::fprintf(out, "%-*s%12llu %11.1f %12llu %12llu  %s; %s\n", width, rows[i].lead.c_str(),
                 static_cast<unsigned long long>(begun(one)), percent(as_double(one.commits), as_double(begun(one))),
                 static_cast<unsigned long long>(one.alone), static_cast<unsigned long long>(one.waits),
                 observe::printable(rows[i].site->name).c_str(), causes_of(one.aborts, begun(one)).c_str());
  }
  print_more(out, rows.size(), most);
}

void print_warm_ups(std::FILE* out, int width, const std::string& lead_heading, std::vector<site_row> rows,
                    std::size_t most) {
  std::erase_if(rows, [](const site_row& row) { return !row.site->warm_ups; });
  if (rows.empty()) return;
  const auto counted = [](const site_row& row) { return row.site->warm_ups.value_or(observe::warm_record()); };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const site_row& a, const site_row& b) { return counted(a).ns > counted(b).ns; });
  std::fprintf(out,
               "\nwarm-ups (critical sections run ahead of time by waiters)\n"
               "%-*s%12s %12s %11s  site; ends of attempts by first cause (explicit: run to the end)\n",
               width, lead_heading.c_str(), "warm-ups", "in attempts", "time, s");
  for (std::size_t i = 0; i < rows.size() && i < most; ++i) {
    const observe::warm_record one = counted(rows[i]);
    std::fprintf(out, "%-*s%12llu %12llu %11.3f  %s; %s\n", width, rows[i].lead.c_str(),
                 static_cast<unsigned long long>(one.runs), static_cast<unsigned long long>(one.attempts),
                 as_double(one.ns) / 1e9, observe::printable(rows[i].site->name).c_str(),
                 causes_of(one.aborts, one.attempts).c_str());
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
  std::size_t longest = lead_heading.size();
  std::map<std::string, double> waiting;
  for (const site_row& row : rows) {
    longest = std::max(longest, row.lead.size());
    waiting[row.lead] += as_double(row.site->all_wait_ns());
  }
  const int width = static_cast<int>(longest);
  std::fprintf(out, "%*s%13s %10s %11s %9s %10s %11s %11s %10s %11s\n", width, "", "", "contended", "waiters x",
               "of all", "wait, ns", "", "", "hold, ns", "");
  std::fprintf(out, "%-*s%13s %10s %11s %9s %10s %11s %11s %10s %11s  site\n", width, lead_heading.c_str(),
               "acquisitions", "%", "time, s", "waiting %", "p50", "p99", "max", "p50", "p99");
  for (std::size_t i = 0; i < rows.size() && i < most; ++i) print_row(out, width, rows[i], waiting[rows[i].lead]);
  print_more(out, rows.size(), most);
  print_speculation(out, width, lead_heading, all, most);
  print_transactions(out, width, lead_heading, all, most);
  print_warm_ups(out, width, lead_heading, all, most);
  print_conditions(out, width, lead_heading, all, most);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli

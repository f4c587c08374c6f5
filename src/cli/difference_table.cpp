// SPDX-License-Identifier: Apache-2.0
#include "cli/difference_table.hpp"

#include <algorithm>
#include <string>

#include <fmt/core.h>

#include "base/print.hpp"
#include "observe/document/printable.hpp"
#include "report/text.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::cli {
namespace {

constexpr std::size_t label_width = 8;
constexpr std::size_t figure_width = 14;

void print_line(std::FILE* out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  base::print(out, "{}\n", line);
}

void print_left_out(std::FILE* out, std::size_t all, std::size_t most) {
  if (all > most) base::print(out, "\n... and {} more\n", all - most);
}

void print_changed_sites(std::FILE* out, const report::difference& all, std::size_t most) {
  if (all.sites.empty()) return;
  std::string head(label_width, ' ');
  for (const char* words : report::difference_heads) head += fmt::format("{:>{}}", words, figure_width);
  std::fputc('\n', out);
  print_line(out, head + "  site");
  for (std::size_t i = 0; i < std::min(all.sites.size(), most); ++i) {
    const report::site_change& site = all.sites[i];
    std::string name = "  " + observe::printable(site.name + (site.where.empty() ? "" : " (" + site.where + ")"));
    if (i != 0) std::fputc('\n', out);
    for (const report::difference_row& row : report::rows_of(site, all)) {
      std::string line = fmt::format("{:{}}", row.label, label_width);
      for (const std::string& cell : row.cells) line += fmt::format("{:>{}}", cell, figure_width);
      print_line(out, line + name);
      name.clear();
    }
  }
  print_left_out(out, all.sites.size(), most);
}

void print_points(std::FILE* out, const report::difference& all, std::size_t most) {
  if (all.points.empty()) return;
  std::size_t widest = figure_width;
  for (const report::point_change& one : all.points) {
    widest = std::max({widest, report::length(report::value_words(one, one.before)) + 2,
                       report::length(report::value_words(one, one.after)) + 2});
  }
  base::print(out, "\n{:>{}}{:>{}}     ratio  after is measured\n", "before", widest, "after", widest);
  for (std::size_t i = 0; i < std::min(all.points.size(), most); ++i) {
    const report::point_change& one = all.points[i];
    const double ratio = one.after.median / one.before.median;
    base::print(out, "{:>{}}{:>{}}{:>10}  {}{}\n", report::value_words(one, one.before), widest,
                report::value_words(one, one.after), widest, report::figures(ratio, 3),
                base::padded(report::judged(one), 9), observe::printable(one.metric + " of " + one.what));
  }
  print_left_out(out, all.points.size(), most);
}

}  // namespace

void print_difference(std::FILE* out, const report::difference& all, std::size_t most) {
  base::print(out, "before: {}\nafter:  {}\n{}\n", observe::printable(all.before), observe::printable(all.after),
              observe::printable(report::verdict_of(all)));
  print_points(out, all, most);
  print_changed_sites(out, all, most);
  for (std::size_t i = 0; i < all.remarks.size(); ++i)
    base::print(out, "{}remark: {}\n", i == 0 ? "\n" : "", observe::printable(all.remarks[i]));
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/difference_table.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/words.hpp"
#include "observe/document/printable.hpp"
#include "report/text.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {
using base::words;

namespace {

constexpr std::size_t label_width = 8;
constexpr std::size_t figure_width = 14;

/// The words, right-aligned in so many columns. printf counts bytes, and some units have letters of two bytes.
std::string right(std::string_view words, std::size_t columns) {
  const std::size_t taken = report::length(words);
  return std::string(taken < columns ? columns - taken : 0, ' ') + std::string(words);
}

std::string left(std::string_view words, std::size_t columns) {
  const std::size_t taken = report::length(words);
  return std::string(words) + std::string(taken < columns ? columns - taken : 0, ' ');
}

void print_line(std::FILE* out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  std::fprintf(out, "%s\n", line.c_str());
}

void print_left_out(std::FILE* out, std::size_t all, std::size_t most) {
  if (all > most) std::fprintf(out, "\n... and %zu more\n", all - most);
}

void print_site_differences(std::FILE* out, const report::difference& all, std::size_t most) {
  if (all.sites.empty()) return;
  std::string head = left("", label_width);
  for (const char* words : report::difference_heads) head += right(words, figure_width);
  std::fputc('\n', out);
  print_line(out, head + "  site");
  for (std::size_t i = 0; i < std::min(all.sites.size(), most); ++i) {
    const report::site_change& site = all.sites[i];
    std::string name = "  " + observe::printable(site.name + (site.where.empty() ? "" : " (" + site.where + ")"));
    if (i != 0) std::fputc('\n', out);
    for (const report::difference_row& row : report::rows_of(site, all)) {
      std::string line = left(row.label, label_width);
      for (const std::string& cell : row.cells) line += right(cell, figure_width);
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
  std::fprintf(out, "\n%s%s%10s  %-9s%s\n", right("before", widest).c_str(), right("after", widest).c_str(), "ratio",
               "after is", "measured");
  for (std::size_t i = 0; i < std::min(all.points.size(), most); ++i) {
    const report::point_change& one = all.points[i];
    const double ratio = one.after.median / one.before.median;
    std::fprintf(out, "%s%s%s  %-9s%s\n", right(report::value_words(one, one.before), widest).c_str(),
                 right(report::value_words(one, one.after), widest).c_str(),
                 right(report::figures(ratio, 3), 10).c_str(), report::judged(one),
                 observe::printable(one.metric + " of " + one.what).c_str());
  }
  print_left_out(out, all.points.size(), most);
}

}  // namespace

void print_difference(std::FILE* out, const report::difference& all, std::size_t most) {
  std::fprintf(out, "before: %s\nafter:  %s\n%s\n", observe::printable(all.before).c_str(),
               observe::printable(all.after).c_str(), observe::printable(report::verdict_of(all)).c_str());
  print_points(out, all, most);
  print_site_differences(out, all, most);
  for (std::size_t i = 0; i < all.remarks.size(); ++i)
    std::fprintf(out, "%sremark: %s\n", i == 0 ? "\n" : "", observe::printable(all.remarks[i]).c_str());
}

}  // namespace txsync::inline TXSYNC_BACKEND::cli

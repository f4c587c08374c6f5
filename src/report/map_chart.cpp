// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>

#include "report/chart.hpp"
#include "report/svg.hpp"
#include "report/text.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {
namespace {

constexpr double cell_height = 24;
constexpr double narrowest_cell = 34;
constexpr double widest_cell = 64;
constexpr double panel_gap = 12;
constexpr double max_label_room = 230;
constexpr double head_height = 46;  // the labels of panels and of their columns

struct map_layout {
  double left = 0;
  double cell_width = 0;
  std::size_t columns = 1;
  double x(std::size_t panel, std::size_t column) const {
    return left + static_cast<double>(panel) * (static_cast<double>(columns) * cell_width + panel_gap) +
           static_cast<double>(column) * cell_width;
  }
  static double y(std::size_t row) { return head_height + static_cast<double>(row) * cell_height; }
};

map_layout layout_of(const map_chart& chart) {
  std::size_t longest = length(chart.row_words);
  for (const std::string& one : chart.rows) longest = std::max(longest, length(one));
  map_layout layout;
  layout.columns = chart.columns.size();
  layout.left = std::min(static_cast<double>(longest) * letter_width + 10, max_label_room);
  const double panels = static_cast<double>(chart.panels.size());
  const double room = width - layout.left - (panels - 1) * panel_gap;
  layout.cell_width = std::min(room / panels / static_cast<double>(layout.columns), widest_cell);
  return layout;
}

/// A class of the style sheet. The bounds are those of claims about sweeps: 0.9 counts as nearly the best.
const char* look_of(double part) {
  if (part >= 0.9) return "m4";
  if (part >= 0.75) return "m3";
  if (part >= 0.5) return "m2";
  return part >= 0.25 ? "m1" : "m0";
}

std::string drawn(const map_cell& value, const map_layout& at, double x, double y) {
  const std::string part = fmt::format("{:.2f}", value.part);
  return fmt::format(
      R"(<g class="mark cell {}"><title>{}</title><rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>{}</g>)"
      "\n",
      look_of(value.part), escaped(value.hover), x + 1, y + 1, at.cell_width - 2, cell_height - 2,
      svg_text("tick", x + at.cell_width / 2, y + cell_height / 2 + 4.5, part));
}

std::string drawn(const map_chart::panel& panel, std::size_t number, const map_chart& chart, const map_layout& at) {
  const double panel_width = static_cast<double>(at.columns) * at.cell_width;
  std::string svg = svg_text("head", at.x(number, 0) + panel_width / 2, 16,
                             shortened(panel.label, static_cast<std::size_t>(panel_width / letter_width)));
  for (std::size_t column = 0; column < at.columns; ++column) {
    svg += svg_text("tick", at.x(number, column) + at.cell_width / 2, head_height - 8, chart.columns[column]);
    for (std::size_t row = 0; row < panel.at.size(); ++row) {
      const std::optional<map_cell>& value = panel.at[row][column];
      if (value) svg += drawn(*value, at, at.x(number, column), map_layout::y(row));
    }
  }
  return svg;
}

}  // namespace

std::size_t max_panels(std::size_t columns) {
  const double narrowest_panel = static_cast<double>(std::max<std::size_t>(columns, 1)) * narrowest_cell;
  return std::max<std::size_t>(
      1, static_cast<std::size_t>((width - max_label_room + panel_gap) / (narrowest_panel + panel_gap)));
}

std::string drawn(const map_chart& chart) {
  if (chart.panels.empty() || chart.rows.empty() || chart.columns.empty()) return {};
  const map_layout at = layout_of(chart);
  std::string svg = opened(chart.title, chart.description, map_layout::y(chart.rows.size()) + 6);
  svg += svg_text("label", at.left - 8, head_height - 8, chart.row_words);
  const auto max_letters = static_cast<std::size_t>((at.left - 8) / letter_width);
  for (std::size_t row = 0; row < chart.rows.size(); ++row) {
    svg += svg_text("label", at.left - 8, map_layout::y(row) + cell_height / 2 + 4.5,
                    shortened(chart.rows[row], std::max<std::size_t>(max_letters, 8)));
  }
  for (std::size_t i = 0; i < chart.panels.size(); ++i) svg += drawn(chart.panels[i], i, chart, at);
  return svg + closed(chart.title);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report

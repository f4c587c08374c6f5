// SPDX-License-Identifier: Apache-2.0
#include "report/chart.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include "report/svg.hpp"
#include "report/text.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::report {
namespace {

constexpr double row_height = 28;
constexpr double tick_room = 40;
constexpr std::size_t max_label_letters = 30;

/// About five round steps from 0 that reach `greatest`.
struct axis {
  double step = 1;
  double end = 1;
  int decimals = 0;

  explicit axis(double greatest) {
    if (!(greatest > 0) || !std::isfinite(greatest)) greatest = 1;
    const double rough = greatest / 5;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
      step = factor * power;
      if (step >= rough * 0.999) break;
    }
    end = step * std::ceil(greatest / step - 1e-9);
    decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
  }

  std::vector<double> ticks() const {
    std::vector<double> values;
    for (int i = 0; i * step <= end * 1.0001; ++i) values.push_back(i * step);
    return values;
  }
  std::string words(double tick) const { return fmt::format("{:.{}f}", tick, decimals); }
};

double max_of(const estimate& value) { return std::max({value.value, value.low, value.high}); }

struct bar_layout {
  double left;
  double right;
  double bottom;
  axis scale;
  double x(double value) const { return left + (right - left) * std::clamp(value / scale.end, 0.0, 1.0); }
};

std::string words_of_value(const bar& item) {
  return item.value_words.empty() ? figures(item.what.value) : item.value_words;
}

std::string drawn(const bar& item, const bar_layout& at, double top) {
  const double middle = top + row_height / 2;
  std::string svg = fmt::format(R"(<g class="mark {}"><title>{}</title>)", item.look, escaped(item.hover));
  svg += fmt::format(R"(<rect class="hit" x="0" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>)", top, width, row_height);
  svg += svg_text("label", at.left - 8, middle + 4.5, shortened(item.label, max_label_letters));
  svg += fmt::format(R"(<rect class="bar" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="16"/>)", at.left, middle - 8,
                     std::max(0.0, at.x(item.what.value) - at.left));
  if (item.interval) {
    svg += svg_line("whisker", at.x(item.what.low), middle, at.x(item.what.high), middle);
    svg += svg_line("whisker", at.x(item.what.low), middle - 5, at.x(item.what.low), middle + 5);
    svg += svg_line("whisker", at.x(item.what.high), middle - 5, at.x(item.what.high), middle + 5);
  }
  svg += svg_text("value", at.right + 12, middle + 4.5, words_of_value(item));
  return svg + "</g>\n";
}

}  // namespace

std::string drawn(const bar_chart& chart) {
  if (chart.bars.empty()) return {};
  double greatest = chart.marker.value_or(0);
  std::size_t longest = 0, max_value_letters = 0;
  for (const bar& item : chart.bars) {
    max_value_letters = std::max(max_value_letters, length(words_of_value(item)));
    greatest = std::max(greatest, max_of(item.what));
    longest = std::max(longest, std::min(length(item.label), max_label_letters));
  }
  const double top = chart.marker ? 24 : 6;
  const double value_room = std::max(76.0, static_cast<double>(max_value_letters) * letter_width + 16);
  const bar_layout at{static_cast<double>(longest) * letter_width + 14, width - value_room,
                      top + row_height * static_cast<double>(chart.bars.size()), axis(greatest)};
  std::string svg = opened(chart.title, chart.description, at.bottom + tick_room);
  for (const double tick : at.scale.ticks()) {
    svg += svg_line("grid", at.x(tick), top, at.x(tick), at.bottom);
    svg += svg_text("tick", at.x(tick), at.bottom + 15, at.scale.words(tick));
  }
  svg += svg_text("axis", width / 2, at.bottom + 35, shortened(chart.axis, 88));
  for (std::size_t i = 0; i < chart.bars.size(); ++i) {
    svg += drawn(chart.bars[i], at, top + row_height * static_cast<double>(i));
  }
  if (chart.marker) {
    svg += svg_line("marker", at.x(*chart.marker), top - 4, at.x(*chart.marker), at.bottom);
    const double half = static_cast<double>(length(chart.marker_words)) * letter_width / 2;
    svg += svg_text("tick", std::clamp(at.x(*chart.marker), half, width - half), top - 8, chart.marker_words);
  }
  return svg + closed(chart.title);
}

namespace {

constexpr double line_chart_height = 380;
constexpr double label_distance = 17;
constexpr double side = 26;     // from the first and last position to the edges
constexpr double word_gap = 6;  // between the labels of positions

/// Maps the first value to 0 and the last to 1.
std::vector<double> spread(const std::vector<double>& ascending) {
  std::vector<double> positions;
  positions.reserve(ascending.size());
  const double whole = ascending.back() - ascending.front();
  for (const double one : ascending) positions.push_back(whole == 0 ? 0.5 : (one - ascending.front()) / whole);
  return positions;
}

double min_distance(const std::vector<double>& ascending) {
  double least = 1;
  for (std::size_t i = 1; i < ascending.size(); ++i) least = std::min(least, ascending[i] - ascending[i - 1]);
  return least;
}

/// Logarithms. 0 has none: it is placed as far before the second value as that is before the third. Empty if
/// impossible.
std::vector<double> logarithms(const std::vector<double>& ascending) {
  const bool has_zero = ascending.front() == 0;
  if (ascending.front() < 0 || (has_zero && ascending.size() < 3)) return {};
  std::vector<double> logs;
  logs.reserve(ascending.size());
  for (const double one : ascending) logs.push_back(one > 0 ? std::log(one) : 0);
  if (has_zero) logs[0] = 2 * logs[1] - logs[2];
  return logs;
}

/// The positions on the axis, from 0 to 1, and what the axis label says about the scale.
struct x_scale {
  std::vector<double> places;
  std::string words;

  explicit x_scale(const std::vector<double>& positions) : places(spread(positions)) {
    const std::vector<double> logs = logarithms(positions);
    if (logs.empty()) return;
    std::vector<double> factors = spread(logs);
    constexpr double rounding = 1e-9;
    if (min_distance(factors) <= min_distance(places) + rounding) return;
    places = std::move(factors);
    words = positions.front() == 0 ? " (logarithmic scale, 0 apart)" : " (logarithmic scale)";
  }
};

struct line_layout {
  double left = 62;
  double right = width - 10;
  double top = 14;
  double bottom = line_chart_height - 54;
  std::vector<double> places;
  axis scale{1};
  double x(std::size_t position) const { return left + side + (right - left - 2 * side) * places[position]; }
  double y(double value) const { return bottom - (bottom - top) * std::clamp(value / scale.end, 0.0, 1.0); }
};

/// The positions of the labels at the ends of the lines: as near to the ends as possible, without overlap.
std::vector<double> label_places(const line_chart& chart, const line_layout& at) {
  std::vector<std::pair<double, std::size_t>> wanted;
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    double y = at.bottom;
    for (const auto& one : chart.lines[i].at) {
      if (one) y = at.y(one->value);
    }
    wanted.emplace_back(y, i);
  }
  std::sort(wanted.begin(), wanted.end());
  for (std::size_t i = 1; i < wanted.size(); ++i) {
    wanted[i].first = std::max(wanted[i].first, wanted[i - 1].first + label_distance);
  }
  double limit = at.bottom;
  for (std::size_t i = wanted.size(); i-- > 0;) {
    wanted[i].first = std::min(wanted[i].first, limit);
    limit = wanted[i].first - label_distance;
  }
  std::vector<double> places(chart.lines.size());
  for (const auto& [y, index] : wanted) places[index] = y;
  return places;
}

/// The last position gets a label. Others get one, starting from the first, if there is room.
std::string x_axis(const line_chart& chart, const line_layout& at) {
  const auto half = [&](std::size_t i) {
    return static_cast<double>(length(chart.position_words[i])) * letter_width / 2 + word_gap / 2;
  };
  const std::size_t last = chart.position_words.size() - 1;
  std::string svg;
  double taken = 0;
  for (std::size_t i = 0; i <= last; ++i) {
    svg += svg_line("grid", at.x(i), at.bottom, at.x(i), at.bottom + 5);
    if (i != last && (at.x(i) - half(i) < taken || at.x(i) + half(i) > at.x(last) - half(last))) continue;
    svg += svg_text("tick", at.x(i), at.bottom + 18, chart.position_words[i]);
    taken = at.x(i) + half(i);
  }
  return svg;
}

std::string drawn(const line& curve, std::size_t index, const line_layout& at, double label_y) {
  std::string path;
  std::string marks;
  double last_x = at.right;
  double last_y = label_y;
  for (std::size_t i = 0; i < curve.at.size(); ++i) {
    const std::optional<estimate>& value = curve.at[i];
    if (!value) continue;
    last_x = at.x(i);
    last_y = at.y(value->value);
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", last_x, last_y);
    marks += fmt::format(R"(<g class="mark"><title>{}</title>{}<circle cx="{:.1f}" cy="{:.1f}" r="4.5"/></g>)",
                         escaped(curve.hover[i]),
                         svg_line("whisker", last_x, at.y(value->low), last_x, at.y(value->high)), last_x, last_y);
  }
  const std::string connection = curve.connected ? fmt::format(R"(<path d="{}"/>)", path) : "";
  return fmt::format(R"(<g class="line s{}">{}{}{}{}</g>)"
                     "\n",
                     index, connection, marks, svg_line("leader", last_x + 7, last_y, at.right + 8, label_y),
                     svg_text("name", at.right + 12, label_y + 4.5, shortened(curve.label, max_label_letters)));
}

}  // namespace

std::string drawn(const line_chart& chart) {
  if (chart.lines.empty() || chart.positions.empty()) return {};
  line_layout at;
  double greatest = 0;
  std::size_t longest = 0;
  for (const line& curve : chart.lines) {
    for (const auto& value : curve.at) greatest = std::max(greatest, value ? max_of(*value) : 0);
    longest = std::max(longest, std::min(length(curve.label), max_label_letters));
  }
  at.scale = axis(greatest);
  x_scale across(chart.positions);
  at.places = std::move(across.places);
  at.right -= static_cast<double>(longest) * letter_width + 12;
  std::string svg = opened(chart.title, chart.description, line_chart_height);
  for (const double tick : at.scale.ticks()) {
    svg += svg_line("grid", at.left, at.y(tick), at.right, at.y(tick));
    svg += svg_text("ytick", at.left - 8, at.y(tick) + 4.5, at.scale.words(tick));
  }
  svg += x_axis(chart, at);
  svg += svg_text("axis", (at.left + at.right) / 2, at.bottom + 36, chart.x_axis + across.words);
  const std::vector<double> places = label_places(chart, at);
  for (std::size_t i = 0; i < chart.lines.size(); ++i) svg += drawn(chart.lines[i], i, at, places[i]);
  return svg + closed(chart.title + "; " + chart.y_axis);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report

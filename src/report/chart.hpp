// SPDX-License-Identifier: Apache-2.0
// The drawings of the page: inline SVG with a title and a description. Each mark has its own title. Browsers show it on
// hover; the page's script shows it at once. Each drawing has a table beside it with the same numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::report {

/// A value with its interval.
struct estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

struct bar {
  std::string label;
  estimate what;
  std::string hover;  ///< the full sentence for hovering
  std::string look;   ///< "ours", "peer" or "best": a class of the style sheet
  bool interval = true;
  std::string value_words = {};  ///< the text at the bar's end; empty: the value's figures
};

struct bar_chart {
  std::string title;
  std::string description;
  std::string axis;              ///< what the values are, and their unit
  std::optional<double> marker;  ///< a line across all bars at this value
  std::string marker_words;      ///< the label of the marker
  std::vector<bar> bars;
};

/// Horizontal bars with whiskers for the intervals. Empty if there are no bars.
std::string drawn(const bar_chart& chart);

struct line {
  std::string label;
  std::vector<std::optional<estimate>> at;  ///< by position on the x axis
  std::vector<std::string> hover;           ///< by position, too
  bool connected = true;                    ///< false: only marks
};

struct line_chart {
  std::string title;
  std::string description;
  std::string x_axis;
  std::string y_axis;
  std::vector<double> positions;            ///< on the x axis, ascending
  std::vector<std::string> position_words;  ///< a label for each position
  std::vector<line> lines;                  ///< at most 8
};

inline constexpr std::size_t max_lines = 8;

/// Lines over positions on a true scale, labelled at their ends. The scale is linear, or logarithmic if that keeps the
/// nearest two positions further apart; the axis says which. Labels that would overlap others are left out.
std::string drawn(const line_chart& chart);

/// A cell of a map: a fraction of the best value, from 0 to 1.
struct map_cell {
  double part = 0;
  std::string hover;
};

/// Panels side by side, all with the same rows and columns.
struct map_chart {
  struct panel {
    std::string label;
    std::vector<std::vector<std::optional<map_cell>>> at;  ///< by row and column
  };
  std::string title;
  std::string description;
  std::string row_words;  ///< what the row labels mean
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::vector<panel> panels;  ///< at most max_panels() of the number of columns
};

/// How many panels fit beside each other; at least one.
std::size_t max_panels(std::size_t columns);

/// Cells with their fractions as numbers. The nearer to 1, the stronger the background colour.
std::string drawn(const map_chart& chart);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::report

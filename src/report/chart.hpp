// SPDX-License-Identifier: Apache-2.0
// The drawings of the page: inline SVG with a title and a description, each mark with a title of its own, which
// browsers show on hover and the page's script shows at once. What a drawing shows stands in a table beside it, too.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::report {

/// A value with its interval.
struct estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

struct bar {
  std::string label;
  estimate what;
  std::string hover;  ///< the whole sentence
  std::string look;   ///< "ours", "peer", "best": a class of the style
  bool interval = true;
  std::string value_words = {};  ///< at the bar's end; empty: the value's figures
};

struct bar_chart {
  std::string title;
  std::string description;
  std::string axis;              ///< what the values are, with the unit
  std::optional<double> marker;  ///< a line across all bars, at this value...
  std::string marker_words;      ///< ...with these words
  std::vector<bar> bars;
};

/// Horizontal bars with whiskers for the intervals. Empty without bars.
std::string drawn(const bar_chart& chart);

struct line {
  std::string label;
  std::vector<std::optional<estimate>> at;  ///< by position on the x axis
  std::vector<std::string> hover;           ///< likewise
  bool connected = true;                    ///< false: marks alone
};

struct line_chart {
  std::string title;
  std::string description;
  std::string x_axis;
  std::string y_axis;
  std::vector<double> positions;            ///< on the x axis, ascending
  std::vector<std::string> position_words;  ///< as many
  std::vector<line> lines;                  ///< at most 8
};

inline constexpr std::size_t most_lines = 8;

/// Lines over positions that stand to scale, labelled at their ends. Equal distances are equal steps or, where that
/// keeps the nearest two further apart, equal factors; the axis says which. Words that would touch others are left out.
std::string drawn(const line_chart& chart);

/// A cell of a map: a part of the best, from 0 to 1.
struct map_cell {
  double part = 0;
  std::string hover;
};

/// Panels side by side, each with the same rows and columns.
struct map_chart {
  struct panel {
    std::string label;
    std::vector<std::vector<std::optional<map_cell>>> at;  ///< by row and column
  };
  std::string title;
  std::string description;
  std::string row_words;  ///< what the rows' labels are
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::vector<panel> panels;  ///< at most most_panels() of that many columns
};

/// So many panels find room beside each other, at least one.
std::size_t most_panels(std::size_t columns);

/// Cells with their parts as numbers, on a ground that is the stronger the nearer they are to 1.
std::string drawn(const map_chart& chart);

}  // namespace txsync::inline TXSYNC_BACKEND::report

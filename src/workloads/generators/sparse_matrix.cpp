// SPDX-License-Identifier: Apache-2.0
// Random matrices.
#include "workloads/generators/sparse_matrix.hpp"

#include <algorithm>

#include "workloads/harness/random.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

/// Rows are drawn in the order in which they can be solved: the last one first.
class drawing {
 public:
  drawing(const matrix_shape& shape, std::uint64_t seed)
      : shape_(shape), widths_(seed, 1), levels_(seed, 2), lengths_(seed, 3), columns_(seed, 4), values_(seed, 5) {}

  sparse_matrix run() {
    draw_levels();
    draw_elements();
    return in_order_of_rows();
  }

 private:
  static constexpr std::uint32_t mixed = 4;  ///< how many levels have their rows mixed, and are referred to by elements

  /// The level of each place. A row of a level needs one of the level before it.
  void draw_levels() {
    std::uint32_t base = 0;
    std::uint32_t left = width();
    for (std::uint32_t place = 0; place < shape_.rows; ++place, --left) {
      if (left == 0) {
        ++base;
        left = width();
      }
      std::uint32_t level = base - std::min<std::uint32_t>(base, static_cast<std::uint32_t>(levels_.below(mixed)));
      while (level != 0 && (level > sizes_.size() || sizes_[level - 1] == 0)) --level;
      if (level >= sizes_.size()) sizes_.resize(level + 1);
      ++sizes_[level];
      level_of_.push_back(level);
    }
  }
  /// From half to one and a half times the average.
  std::uint32_t width() {
    return std::max<std::uint32_t>(
        1, static_cast<std::uint32_t>(shape_.parallelism / 2 + widths_.below(std::uint64_t{shape_.parallelism} + 1)));
  }

  void draw_elements() {
    std::vector<std::uint32_t> begins(1, 0);
    for (const std::uint32_t size : sizes_) begins.push_back(begins.back() + size);
    std::vector<std::uint32_t> ends(begins.begin(), begins.end() - 1);
    std::vector<std::uint32_t> places(shape_.rows);  // by level
    for (std::uint32_t place = 0; place < shape_.rows; ++place) {
      const std::uint32_t level = level_of_[place];
      const auto any_of = [&](std::uint32_t which) {
        return places[begins[which] + columns_.below(ends[which] - begins[which])];
      };
      std::vector<std::uint32_t> needs;
      if (level != 0) {
        needs.push_back(any_of(level - 1));
        for (std::uint64_t more = lengths_.below(2 * shape_.elements - 1); more != 0; --more) {
          const auto back = static_cast<std::uint32_t>(columns_.below(std::min(level, mixed)));
          needs.push_back(any_of(level - 1 - back));
        }
      }
      std::sort(needs.begin(), needs.end());
      needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
      needs_.insert(needs_.end(), needs.begin(), needs.end());
      need_ends_.push_back(static_cast<std::uint32_t>(needs_.size()));
      places[ends[level]++] = place;
    }
  }

  /// The first place is the last row. The values of a row sum to less than one, so that solutions stay small.
  sparse_matrix in_order_of_rows() {
    sparse_matrix made;
    for (std::uint32_t row = 0; row < shape_.rows; ++row) {
      const std::uint32_t place = shape_.rows - 1 - row;
      const std::uint32_t first = place == 0 ? 0 : need_ends_[place - 1];
      for (std::uint32_t j = need_ends_[place]; j-- != first;) {
        made.columns.push_back(shape_.rows - 1 - needs_[j]);
        made.values.push_back((static_cast<double>(values_.below(2'000)) - 1'000) / 1'000 /
                              (need_ends_[place] - first));
      }
      made.row_begins.push_back(static_cast<std::uint32_t>(made.columns.size()));
    }
    return made;
  }

  const matrix_shape shape_;
  random_stream widths_;
  random_stream levels_;
  random_stream lengths_;
  random_stream columns_;
  random_stream values_;
  std::vector<std::uint32_t> sizes_;     ///< of levels
  std::vector<std::uint32_t> level_of_;  ///< by place
  std::vector<std::uint32_t> needs_;     ///< places that must be solved before
  std::vector<std::uint32_t> need_ends_;
};

}  // namespace

sparse_matrix draw_matrix(const matrix_shape& shape, std::uint64_t seed) { return drawing(shape, seed).run(); }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

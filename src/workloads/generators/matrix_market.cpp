// SPDX-License-Identifier: Apache-2.0
#include "workloads/generators/matrix_market.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <istream>
#include <list>
#include <string_view>

#include <fmt/core.h>

#include <txsync/machine/assert.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

struct element {
  std::uint32_t row;
  std::uint32_t column;
  double value;
};

constexpr std::uint64_t max_rows = 1u << 31;
constexpr std::uint64_t max_elements = std::uint64_t{1} << 31;

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr const char* blank = " \t\r";
  for (std::size_t at = line.find_first_not_of(blank); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(blank, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(blank, end);
  }
  return words;
}

/// The format's words may be in upper or lower case.
bool same(std::string_view word, std::string_view wanted) {
  return std::equal(word.begin(), word.end(), wanted.begin(), wanted.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; });
}

template <class Number>
bool parse(std::string_view word, Number& out) {
  if (word.starts_with('+')) word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
  return error == std::errc{} && end == word.data() + word.size();
}

class reader {
 public:
  reader(std::istream& from, const std::string& source) : from_(from), source_(source) {}

  sparse_matrix run() {
    read_banner();
    read_size();
    for (std::uint64_t i = 0; i < elements_; ++i) read_element(i);
    if (next_line(true)) fail(fmt::format("there is more than the {} elements that were announced", elements_));
    return sorted();
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw matrix_error(fmt::format("{}:{}: {}", source_, line_number_, what));
  }

  /// The next line that is not blank and, where comments are allowed, is not a comment.
  bool next_line(bool comments) {
    while (std::getline(from_, line_)) {
      ++line_number_;
      words_ = words_of(line_);
      if (!words_.empty() && !(comments && words_[0].starts_with('%'))) return true;
    }
    if (from_.bad() || !from_.eof()) fail("the file cannot be read on");
    ++line_number_;
    return false;
  }

  void read_banner() {
    if (!next_line(false) || words_[0] != "%%MatrixMarket") fail("the first line is not that of a Matrix Market file");
    if (words_.size() != 5 || !same(words_[1], "matrix")) {
      fail("the first line is not '%%MatrixMarket matrix FORMAT FIELD SYMMETRY'");
    }
    if (!same(words_[2], "coordinate")) fail("the format is '" + std::string(words_[2]) + "'; allowed: coordinate");
    pattern_ = same(words_[3], "pattern");
    if (!pattern_ && !same(words_[3], "real") && !same(words_[3], "integer")) {
      fail("the field is '" + std::string(words_[3]) + "'; allowed: real, integer, pattern");
    }
    symmetric_ = same(words_[4], "symmetric");
    if (!symmetric_ && !same(words_[4], "general")) {
      fail("the symmetry is '" + std::string(words_[4]) + "'; allowed: general, symmetric");
    }
  }

  void read_size() {
    std::uint64_t columns = 0;
    if (!next_line(true)) fail("the line with the size is missing");
    if (words_.size() != 3 || !parse(words_[0], rows_) || !parse(words_[1], columns) || !parse(words_[2], elements_)) {
      fail("the size is not three numbers: rows, columns, elements");
    }
    if (rows_ != columns) fail("the matrix is not square");
    if (rows_ == 0 || rows_ >= max_rows) fail("the number of rows is not in 1..2^31-1");
    if (elements_ >= max_elements) fail("there are more than 2^31-1 elements");
  }

  void read_element(std::uint64_t index) {
    if (!next_line(true)) {
      fail(fmt::format("the file ends after {} of {} elements", index, elements_));
    }
    std::uint64_t row = 0;
    std::uint64_t column = 0;
    double value = 1;
    const std::size_t wanted = pattern_ ? 2 : 3;
    if (words_.size() != wanted || !parse(words_[0], row) || !parse(words_[1], column) ||
        (!pattern_ && !parse(words_[2], value))) {
      fail(pattern_ ? "an element is not two numbers: row, column"
                    : "an element is not three numbers: row, column, value");
    }
    if (row < 1 || row > rows_ || column < 1 || column > rows_) fail("an element lies outside of the matrix");
    if (!std::isfinite(value)) fail("a value is not finite");
    if (symmetric_) {
      if (row < column) fail("an element of a symmetric matrix lies above the diagonal");
      std::swap(row, column);
    }
    if (row < column) {
      kept_.push_back({static_cast<std::uint32_t>(row - 1), static_cast<std::uint32_t>(column - 1), value});
    }
  }

  sparse_matrix sorted() {
    std::sort(kept_.begin(), kept_.end(),
              [](const element& a, const element& b) { return a.row != b.row ? a.row < b.row : a.column < b.column; });
    sparse_matrix made;
    std::size_t at = 0;
    for (std::uint32_t row = 0; row < rows_; ++row) {
      const std::size_t first = at;
      double size = 0;
      for (; at < kept_.size() && kept_[at].row == row; ++at) {
        if (at != first && kept_[at].column == kept_[at - 1].column) {
          throw matrix_error(
              fmt::format("{}: row {}, column {} appears twice", source_, row + 1, kept_[at].column + 1));
        }
        size += std::abs(kept_[at].value);
      }
      for (std::size_t i = first; i < at; ++i) {
        made.columns.push_back(kept_[i].column);
        made.values.push_back(size == 0 ? 0 : kept_[i].value / size / 2);
      }
      made.row_begins.push_back(static_cast<std::uint32_t>(made.columns.size()));
    }
    return made;
  }

  std::istream& from_;
  const std::string& source_;
  std::string line_;
  std::vector<std::string_view> words_;
  std::uint64_t line_number_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t elements_ = 0;
  bool pattern_ = false;
  bool symmetric_ = false;
  std::vector<element> kept_;
};

struct opened {
  std::string path;
  sparse_matrix matrix;
};

/// In a list, so that an opened matrix keeps its address.
std::list<opened>& all_opened() {
  static std::list<opened> all;
  return all;
}

const opened& opened_as(std::uint64_t number) {
  return *std::next(all_opened().begin(), static_cast<long>(number - 1));
}

}  // namespace

sparse_matrix read_matrix(std::istream& from, const std::string& source) { return reader(from, source).run(); }

std::uint64_t open_matrix(const std::string& path) {
  std::uint64_t number = 0;
  for (const opened& one : all_opened()) {
    ++number;
    if (one.path == path) return number;
  }
  std::ifstream file(path);
  if (!file) throw matrix_error(path + ": the file cannot be opened");
  all_opened().push_back({path, read_matrix(file, path)});
  return number + 1;
}

const std::string& path_of_matrix(std::uint64_t number) {
  TXSYNC_ASSERT(number != 0 && number <= all_opened().size(), "open_matrix() has returned the number");
  return opened_as(number).path;
}

const sparse_matrix* matrix_of_file(std::uint64_t number) noexcept {
  return number != 0 && number <= all_opened().size() ? &opened_as(number).matrix : nullptr;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

// SPDX-License-Identifier: Apache-2.0
#include "workloads/generators/trisolve.hpp"

#include <algorithm>
#include <bit>

#include "workloads/harness/random.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

enum key : unsigned { file, rows, parallelism, elements };

constexpr parameter keys[] = {
    {.key = "file",
     .fallback = 0,
     .least = 0,
     .greatest = 1 << 16,
     .words = "a matrix in Matrix Market's format; without one, a matrix is drawn. Native only",
     .is_file = true},
    {"rows", 16'384, 16, 1 << 24, "of the matrix that is drawn"},
    {"parallelism", 75, 1, 1 << 20, "rows that can be solved at the same time, on average"},
    {"elements", 8, 1, 256, "of a row above the diagonal, on average"},
};

// One sixteenth of each matrix's rows, with the matrix's parallelism and its elements per row.
constexpr setting offshore[] = {{"rows", 16'236}, {"parallelism", 75}, {"elements", 8}};
constexpr setting inline_1[] = {{"rows", 31'482}, {"parallelism", 288}, {"elements", 36}};
constexpr setting thermal2[] = {{"rows", 76'752}, {"parallelism", 991}, {"elements", 3}};
constexpr preset presets[] = {
    {"offshore", "always-abort paper, Table I: like offshore.mtx, a sixteenth of its size", offshore},
    {"inline_1", "always-abort paper, Table I: like inline_1.mtx, a sixteenth of its size", inline_1},
    {"thermal2", "always-abort paper, Table I: like thermal2.mtx, a sixteenth of its size", thermal2},
};

const char* contradiction(const parameters& values) {
  if (values[key::file] != 0 && matrix_of_file(values[key::file]) == nullptr) return "there is no such file here";
  if (values[key::parallelism] > values[key::rows]) return "parallelism is greater than rows";
  return values[key::rows] * values[key::elements] > std::uint64_t{1} << 31 ? "the matrix is too large" : nullptr;
}

}  // namespace

constinit const workload trisolve_workload{
    .name = "trisolve",
    .summary = "a sparse triangular system, solved level by level with a barrier in between",
    .operation = "rows",
    .keys = keys,
    .presets = presets,
    .contradiction = contradiction,
};

sparse_matrix trisolve_matrix(const parameters& values, std::uint64_t seed) {
  if (const sparse_matrix* const read = matrix_of_file(values[key::file])) return *read;
  return draw_matrix({.rows = static_cast<std::uint32_t>(values[key::rows]),
                      .parallelism = static_cast<std::uint32_t>(values[key::parallelism]),
                      .elements = static_cast<std::uint32_t>(values[key::elements])},
                     seed);
}

triangular_system::triangular_system(const sparse_matrix& matrix, std::uint64_t seed, unsigned threads)
    : rowptr_(matrix.row_begins.size()),
      colidx_(matrix.columns.size()),
      values_(matrix.values.size()),
      perm_(matrix.rows()),
      y_(matrix.rows()),
      b_(std::size_t{matrix.rows()} * sides),
      expected_(std::size_t{matrix.rows()} * sides),
      parts_(threads),
      threads_(threads) {
  if (!ok()) return;
  std::copy(matrix.row_begins.begin(), matrix.row_begins.end(), rowptr_.begin());
  std::copy(matrix.columns.begin(), matrix.columns.end(), colidx_.begin());
  std::copy(matrix.values.begin(), matrix.values.end(), values_.begin());
  random_stream draws(seed, 0);
  for (double& one : b_) one = 1 + static_cast<double>(draws.below(1'000)) / 1'000;
  make_schedule(matrix);
  for (unsigned side = 0; side < sides; ++side) solve_alone(side);
}

bool triangular_system::ok() const noexcept {
  return rowptr_.ok() && colidx_.ok() && values_.ok() && perm_.ok() && y_.ok() && b_.ok() && expected_.ok();
}

/// Level scheduling: a row is one level after the last of the rows that it needs.
void triangular_system::make_schedule(const sparse_matrix& matrix) {
  std::vector<std::uint32_t> level_of(matrix.rows());
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t row = matrix.rows(); row-- != 0;) {
    std::uint32_t level = 0;
    for (std::uint32_t j = rowptr_[row]; j < rowptr_[row + 1]; ++j) level = std::max(level, level_of[colidx_[j]] + 1);
    level_of[row] = level;
    if (level == sizes.size()) sizes.push_back(0);
    ++sizes[level];
  }
  level_begins_.assign(1, 0);
  for (const std::uint32_t size : sizes) level_begins_.push_back(level_begins_.back() + size);
  std::vector<std::uint32_t> next(level_begins_.begin(), level_begins_.end() - 1);
  for (std::uint32_t row = 0; row < matrix.rows(); ++row) perm_[next[level_of[row]]++] = row;
}

triangular_system::range triangular_system::range_of(unsigned thread, std::uint32_t level) const noexcept {
  const std::uint32_t begin = level_begins_[level];
  const std::uint64_t size = level_begins_[level + 1] - begin;
  return {static_cast<std::uint32_t>(begin + size * thread / threads_),
          static_cast<std::uint32_t>(begin + size * (thread + 1) / threads_)};
}

std::uint64_t triangular_system::solve(unsigned thread, std::uint32_t level, unsigned side) noexcept {
  const range mine = range_of(thread, level);
  const double* const b = b_.data() + std::size_t{side} * rows();
  const double* const values = values_.data();
  const std::uint32_t* const colidx = colidx_.data();
  const std::uint32_t* const rowptr = rowptr_.data();
  double* const y = y_.data();
  std::uint64_t check = 0;
  for (std::uint32_t i = mine.first; i < mine.last; ++i) {
    const std::uint32_t row = perm_[i];
    double sum = b[row];
    const std::uint32_t first = rowptr[row];
    for (std::uint32_t j = rowptr[row + 1]; j-- != first;) sum -= values[j] * y[colidx[j]];
    y[row] = sum;
    check += std::bit_cast<std::uint64_t>(sum);
  }
  return check;
}

void triangular_system::warm_up(warm_memory& memory, unsigned thread, std::uint32_t level, unsigned side) noexcept {
  const range mine = range_of(thread, level);
  const double* const b = b_.data() + std::size_t{side} * rows();
  for (std::uint32_t i = mine.first; i < mine.last && !memory.over(); ++i) {
    const std::uint32_t row = memory.load(perm_[i]);
    if (row >= rows()) return;  // what is loaded here may be wrong
    memory.fetch(b + row, sizeof *b);
    const std::uint32_t first = memory.load(rowptr_[row]);
    const std::uint32_t last = memory.load(rowptr_[row + 1]);
    if (last < first || last > elements()) return;
    memory.fetch(values_.data() + first, (last - first) * sizeof(double));
    for (std::uint32_t j = first; j < last; ++j) {
      memory.fetch(y_.data() + memory.load(colidx_[j]), sizeof(double));
    }
    memory.store(y_[row], 0);
  }
}

/// The expected result. Each row sums in the same order, so it is equal to the last bit.
void triangular_system::solve_alone(unsigned side) noexcept {
  for (std::uint32_t level = 0; level < levels(); ++level) {
    for (unsigned thread = 0; thread < threads_; ++thread) {
      parts_[thread].sums[side] += solve(thread, level, side);
      const range of = range_of(thread, level);
      if (side == 0) parts_[thread].rows += of.last - of.first;
    }
  }
  std::copy(y_.begin(), y_.end(), expected_.begin() + std::size_t{side} * rows());
}

const char* triangular_system::complaint(unsigned side) const noexcept {
  const double* const expected = expected_.data() + std::size_t{side} * rows();
  for (std::uint32_t row = 0; row < rows(); ++row) {
    if (std::bit_cast<std::uint64_t>(y_[row]) != std::bit_cast<std::uint64_t>(expected[row])) {
      return "the solution is not that of one thread";
    }
  }
  return nullptr;
}

std::uint64_t triangular_system::hash() const noexcept {
  running_hash all;
  for (const double one : y_) all.add(std::bit_cast<std::uint64_t>(one));
  return all.value();
}

void count_rows(outcome& seen, const triangular_system& system, unsigned threads) noexcept {
  std::uint64_t fewest = ~std::uint64_t{0};
  std::uint64_t most = 0;
  for (unsigned thread = 0; thread < threads; ++thread) {
    fewest = std::min(fewest, system.rows_of(thread));
    most = std::max(most, system.rows_of(thread));
  }
  seen.operations = seen.operations * system.rows() / threads;
  seen.fewest *= fewest;
  seen.most *= most;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

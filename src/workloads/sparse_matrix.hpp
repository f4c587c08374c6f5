// SPDX-License-Identifier: Apache-2.0
// Sparse matrices: what trisolve solves, drawn or read from a file.
#pragma once

#include <cstdint>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::workloads {

/// The part above the diagonal of a square matrix, row by row; within a row by column, no column twice.
struct sparse_matrix {
  std::uint32_t rows() const noexcept { return static_cast<std::uint32_t>(row_begins.size() - 1); }

  std::vector<std::uint32_t> row_begins = {0};  ///< in the other two; one more than there are rows
  std::vector<std::uint32_t> columns;
  std::vector<double> values;
  const char* fault = nullptr;  ///< not null: there is no matrix, and why
};

/// What a matrix is to be like.
struct matrix_shape {
  std::uint32_t rows;
  std::uint32_t parallelism;  ///< rows over levels
  std::uint32_t elements;     ///< of a row above the diagonal, on average
};

/// A matrix like those that meshes give: levels of uneven width, whose rows lie among those of their neighbours, and
/// rows of uneven length, whose elements are mostly in the nearest levels. The same for the same seed.
sparse_matrix draw_matrix(const matrix_shape& shape, std::uint64_t seed);

/// The matrix of a file, by the number that open_matrix() gave it (matrix_market.hpp). Its lifetime is the program's.
/// Null where there is none of that number: simulated programs have no files.
const sparse_matrix* matrix_of_file(std::uint64_t number) noexcept;

}  // namespace txsync::inline TXSYNC_BACKEND::workloads

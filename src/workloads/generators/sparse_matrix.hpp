// SPDX-License-Identifier: Apache-2.0
// Sparse matrices, which trisolve solves: random ones, or from a file.
#pragma once

#include <cstdint>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

/// The part above the diagonal of a square matrix, row by row, and within a row by column. No column occurs twice.
struct sparse_matrix {
  std::uint32_t rows() const noexcept { return static_cast<std::uint32_t>(row_begins.size() - 1); }

  std::vector<std::uint32_t> row_begins = {0};  ///< index of each row in the other two, and the end; one more than rows
  std::vector<std::uint32_t> columns;
  std::vector<double> values;
  const char* fault = nullptr;  ///< not null: there is no matrix, and this is the reason
};

/// The properties of a random matrix.
struct matrix_shape {
  std::uint32_t rows;
  std::uint32_t parallelism;  ///< rows divided by levels
  std::uint32_t elements;     ///< in a row above the diagonal, on average
};

/// A matrix like those of meshes. Levels have uneven width, and their rows are mixed with those of their neighbours.
/// Rows have uneven length, and their elements are mostly in the nearest levels. The same seed gives the same matrix.
sparse_matrix draw_matrix(const matrix_shape& shape, std::uint64_t seed);

/// The matrix of a file, by the number that open_matrix() gave it (matrix_market.hpp). It lives as long as the program.
/// Null if there is none with that number: simulated programs have no files.
const sparse_matrix* matrix_of_file(std::uint64_t number) noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

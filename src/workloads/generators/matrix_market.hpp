// SPDX-License-Identifier: Apache-2.0
// Matrices from files in the Matrix Market's exchange format (Boisvert, Pozo and Remington, NISTIR 5935). Host only.
#pragma once

#include <iosfwd>
#include <stdexcept>
#include <string>

#include "workloads/generators/sparse_matrix.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

/// One line: "FILE:LINE: what is wrong".
struct matrix_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reads the part above the diagonal of a square matrix in coordinate format: real, integer or pattern. The matrix is
/// general, or symmetric; files of symmetric ones have the part below. Each row's values are scaled so that their
/// absolute values sum to one half, so solutions stay small. Errors name `source`. Throws matrix_error.
sparse_matrix read_matrix(std::istream& from, const std::string& source);

/// Reads the file, keeps the matrix until the program ends, and returns its number for matrix_of_file(), which is never
/// 0. A file is read only once. Throws matrix_error. Not thread-safe.
std::uint64_t open_matrix(const std::string& path);
/// The file with that number. Requires: open_matrix() has returned the number.
const std::string& path_of_matrix(std::uint64_t number);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

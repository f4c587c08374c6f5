// SPDX-License-Identifier: Apache-2.0
// Matrices from files in the Matrix Market's exchange format (Boisvert, Pozo and Remington, NISTIR 5935). Host only.
#pragma once

#include <iosfwd>
#include <stdexcept>
#include <string>

#include "workloads/sparse_matrix.hpp"

namespace txsync::inline TXSYNC_BACKEND::workloads {

/// One line: "FILE:LINE: what is wrong".
struct matrix_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What stands above the diagonal of a square matrix in coordinate format: real, integer or pattern; general, or
/// symmetric, of which files hold what stands below. Each row's values are scaled so that their sizes sum up to a half:
/// solutions then stay small. `source` is what errors name. Throws matrix_error.
sparse_matrix read_matrix(std::istream& from, const std::string& source);

/// Reads the file, keeps the matrix for the life of the program, and answers its number for matrix_of_file(), which is
/// never 0. The same file is read once. Throws matrix_error. Not thread-safe.
std::uint64_t open_matrix(const std::string& path);
/// The file of that number. Requires: open_matrix() has answered it.
const std::string& path_of_matrix(std::uint64_t number);

}  // namespace txsync::inline TXSYNC_BACKEND::workloads

// SPDX-License-Identifier: Apache-2.0
// trisolve: matrices drawn and read, schedules, and the check that finds a row that was read before it was solved.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include <txsync/barrier.hpp>
#include <txsync/machine/thread.hpp>

#include "../sanitizers.hpp"
#include "workloads/generators/matrix_market.hpp"
#include "workloads/generators/text.hpp"
#include "workloads/subjects/make_barrier.hpp"

namespace {

namespace w = txsync::workloads;

/// What reading says, or "".
std::string complaint_of(const std::string& text) {
  std::istringstream from(text);
  try {
    (void)w::read_matrix(from, "m.mtx");
  } catch (const w::matrix_error& error) {
    return error.what();
  }
  return "";
}

w::sparse_matrix matrix_of(const std::string& text) {
  std::istringstream from(text);
  return w::read_matrix(from, "m.mtx");
}

constexpr const char* general = "%%MatrixMarket matrix coordinate real general\n";

TEST(MatrixMarket, TakesWhatStandsAboveTheDiagonal) {
  const w::sparse_matrix read = matrix_of(
      std::string(general) + "% a comment\n\n3 3 6\n1 1 5\n1 3 -1e1\n1 2 30\n\n2 3 +4\n3 1 7\n% another\n3 3 1\n");
  EXPECT_EQ(read.row_begins, (std::vector<std::uint32_t>{0, 2, 3, 3}));
  EXPECT_EQ(read.columns, (std::vector<std::uint32_t>{1, 2, 2}));
  EXPECT_EQ(read.values, (std::vector<double>{0.375, -0.125, 0.5})) << "each row's sizes sum up to a half";
}

TEST(MatrixMarket, SymmetricOnesHoldWhatStandsBelow) {
  const w::sparse_matrix read =
      matrix_of("%%MatrixMarket MATRIX coordinate Pattern symmetric\r\n3 3 4\r\n1 1\r\n2 1\r\n3 1\r\n3 2\r\n");
  EXPECT_EQ(read.row_begins, (std::vector<std::uint32_t>{0, 2, 3, 3}));
  EXPECT_EQ(read.columns, (std::vector<std::uint32_t>{1, 2, 2}));
  EXPECT_EQ(read.values, (std::vector<double>{0.25, 0.25, 0.5}));
}

TEST(MatrixMarket, SaysInOneLineWhatIsWrongWhere) {
  const auto expect = [](const std::string& text, const std::string& complaint) {
    EXPECT_EQ(complaint_of(text), complaint) << text;
  };
  const std::string head = general;
  expect("", "m.mtx:1: the first line is not that of a Matrix Market file");
  expect("3 3 1\n", "m.mtx:1: the first line is not that of a Matrix Market file");
  expect("%%MatrixMarket matrix coordinate real\n",
         "m.mtx:1: the first line is not '%%MatrixMarket matrix FORMAT FIELD SYMMETRY'");
  expect("%%MatrixMarket matrix array real general\n", "m.mtx:1: the format is 'array'; allowed: coordinate");
  expect("%%MatrixMarket matrix coordinate complex general\n",
         "m.mtx:1: the field is 'complex'; allowed: real, integer, pattern");
  expect("%%MatrixMarket matrix coordinate real hermitian\n",
         "m.mtx:1: the symmetry is 'hermitian'; allowed: general, symmetric");
  expect(head, "m.mtx:2: the line with the size is missing");
  expect(head + "3 3\n", "m.mtx:2: the size is not three numbers: rows, columns, elements");
  expect(head + "3 4 1\n", "m.mtx:2: the matrix is not square");
  expect(head + "0 0 0\n", "m.mtx:2: the number of rows is not in 1..2^31-1");
  expect(head + "%\n2 2 2\n1 2 1\n", "m.mtx:5: the file ends after 1 of 2 elements");
  expect(head + "2 2 1\n1 2\n", "m.mtx:3: an element is not three numbers: row, column, value");
  expect(head + "2 2 1\n1 2 x\n", "m.mtx:3: an element is not three numbers: row, column, value");
  expect(head + "2 2 1\n1 3 1\n", "m.mtx:3: an element lies outside of the matrix");
  expect(head + "2 2 1\n0 1 1\n", "m.mtx:3: an element lies outside of the matrix");
  expect(head + "2 2 1\n1 2 inf\n", "m.mtx:3: a value is not finite");
  expect(head + "2 2 1\n1 2 1\n2 2 1\n", "m.mtx:4: there is more than the 1 elements that were announced");
  expect(head + "2 2 2\n1 2 1\n1 2 1\n", "m.mtx: row 1, column 2 appears twice");
  expect("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n",
         "m.mtx:3: an element of a symmetric matrix lies above the diagonal");
}

TEST(MatrixMarket, FilesAreParameters) {
  const w::workload& one = *w::find_workload("trisolve");
  w::parameters values = w::default_parameters(one);
  EXPECT_EQ(w::assign(one, "file=/no/such.mtx", values), "/no/such.mtx: the file cannot be opened");
  EXPECT_EQ(values.values[0], 0U);
  EXPECT_EQ(w::value_text(one.keys[0], 0), "none");
  EXPECT_EQ(w::allowed_text(one.keys[0]), "none|PATH");

  const std::string path = testing::TempDir() + "txsync_trisolve.mtx";
  std::FILE* const file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs("%%MatrixMarket matrix coordinate pattern general\n4 4 3\n1 2\n2 4\n3 4\n", file);
  std::fclose(file);
  EXPECT_EQ(w::assign(one, "file=" + path, values), "");
  EXPECT_EQ(w::value_text(one.keys[0], values[0]), path);
  w::parameters again = w::default_parameters(one);
  EXPECT_EQ(w::assign(one, "file=" + path, again), "");
  EXPECT_EQ(again.values[0], values.values[0]) << "read once";
  const w::outcome seen = w::run_trisolve<txsync::barrier>(values, w::plan{.threads = 2, .operations = 10});
  EXPECT_EQ(seen.fault, nullptr) << seen.fault;
  EXPECT_EQ(seen.operations, 40U);
  EXPECT_EQ(w::assign(one, "file=none", values), "");
  EXPECT_EQ(values.values[0], 0U);
}

constexpr w::matrix_shape shapes[] = {{16'000, 75, 8}, {30'000, 288, 36}, {40'000, 991, 3}, {100, 1, 1}, {100, 100, 4}};

TEST(DrawnMatrices, HaveTheParallelismAndTheElementsThatWereAskedFor) {
  for (const w::matrix_shape& shape : shapes) {
    SCOPED_TRACE(shape.parallelism);
    const w::sparse_matrix drawn = w::draw_matrix(shape, 1);
    const w::triangular_system system(drawn, 1, 1);
    ASSERT_TRUE(system.ok());
    EXPECT_EQ(system.rows(), shape.rows);
    if (shape.parallelism == 100) continue;  // one level or two
    EXPECT_NEAR(static_cast<double>(system.rows()) / system.levels(), shape.parallelism, 0.1 * shape.parallelism);
    EXPECT_NEAR(static_cast<double>(system.elements()) / system.rows(), shape.elements, 0.15 * shape.elements);
  }
}

TEST(DrawnMatrices, AreTriangularAndSortedAndOfTheirSeed) {
  const w::sparse_matrix drawn = w::draw_matrix(shapes[0], 7);
  for (std::uint32_t row = 0; row < drawn.rows(); ++row) {
    double size = 0;
    for (std::uint32_t j = drawn.row_begins[row]; j < drawn.row_begins[row + 1]; ++j) {
      ASSERT_GT(drawn.columns[j], j == drawn.row_begins[row] ? row : drawn.columns[j - 1]);
      ASSERT_LT(drawn.columns[j], drawn.rows());
      size += std::abs(drawn.values[j]);
    }
    ASSERT_LE(size, 1);
  }
  EXPECT_EQ(w::draw_matrix(shapes[0], 7).columns, drawn.columns);
  EXPECT_EQ(w::draw_matrix(shapes[0], 7).values, drawn.values);
  EXPECT_NE(w::draw_matrix(shapes[0], 8).columns, drawn.columns);
}

TEST(TriangularSystems, PartsAddUpToWhatHasToComeOut) {
  constexpr unsigned threads = 3;
  w::triangular_system system(w::draw_matrix({500, 20, 4}, 1), 1, threads);
  ASSERT_TRUE(system.ok());
  std::uint64_t rows = 0;
  for (unsigned thread = 0; thread < threads; ++thread) rows += system.rows_of(thread);
  EXPECT_EQ(rows, 500U);
  for (const unsigned side : {0U, 1U}) {
    std::uint64_t sums[threads] = {};
    for (std::uint32_t level = 0; level < system.levels(); ++level) {
      for (unsigned thread = 0; thread < threads; ++thread) sums[thread] += system.solve(thread, level, side);
    }
    for (unsigned thread = 0; thread < threads; ++thread) EXPECT_EQ(sums[thread], system.part_sum(thread, side));
    EXPECT_EQ(system.complaint(side), nullptr);
    EXPECT_NE(system.complaint(1 - side), nullptr);
  }
}

/// What a barrier must not be: it lets everybody through at once.
struct open_door {
  explicit open_door(unsigned) {}
  void arrive_and_wait() noexcept {}
};

TEST(TriangularSystems, TheCheckFindsABarrierThatIsNone) {
  // By hand, one thread after the other, so that it does not depend on luck.
  w::triangular_system system(w::draw_matrix({500, 20, 4}, 1), 1, 2);
  ASSERT_TRUE(system.ok());
  std::uint64_t sum = 0;
  for (std::uint32_t level = 0; level < system.levels(); ++level) sum += system.solve(0, level, 0);
  EXPECT_NE(sum, system.part_sum(0, 0));

  if (under_tsan || txsync::machine::cpu_count() < 2) GTEST_SKIP() << "needs two CPUs, and no ThreadSanitizer";
  w::parameters values = w::default_parameters(*w::find_workload("trisolve"));
  bool found = false;
  for (int tries = 0; tries < 20 && !found; ++tries) {
    const w::outcome seen = w::run_trisolve<open_door>(values, w::plan{.threads = 4, .operations = 50});
    found = seen.fault != nullptr;
  }
  EXPECT_TRUE(found);
}

TEST(TriangularSystems, CountRows) {
  const w::workload& one = *w::find_workload("trisolve");
  w::parameters values = w::default_parameters(one);
  for (const char* setting : {"rows=300", "parallelism=30", "elements=2"})
    EXPECT_EQ(w::assign(one, setting, values), "");
  for (const w::subject& barrier : w::subjects()) {
    if (!barrier.is_barrier) continue;
    for (const unsigned threads : {1U, 2U, 4U}) {
      SCOPED_TRACE(std::string(barrier.name) + ", threads " + std::to_string(threads));
      const w::outcome seen =
          barrier.runner_of(w::workload_id::trisolve)(values, w::plan{.threads = threads, .operations = 4});
      EXPECT_EQ(seen.fault, nullptr) << seen.fault;
      EXPECT_EQ(seen.operations, 300U * 4);
      EXPECT_LE(seen.fewest, 300U * 4 / threads);
      EXPECT_GE(seen.most, 300U * 4 / threads);
      EXPECT_GT(seen.elapsed_ns, 0U);
    }
  }
  w::outcome timed;
  // On a busy machine a short time may pass before a solve has ended, or before a sampled solve has.
  for (std::uint64_t duration = 5'000'000; duration < 10'000'000'000; duration *= 8) {
    timed = w::run_trisolve<txsync::barrier>(values, w::plan{.threads = 2, .duration_ns = duration, .sample_every = 3});
    if (timed.operations != 0 && timed.latency.count() != 0) break;
  }
  EXPECT_EQ(timed.fault, nullptr) << timed.fault;
  EXPECT_GT(timed.operations, 0U);
  EXPECT_GT(timed.latency.count(), 0U);
}

TEST(TriangularSystems, RefuseContradictions) {
  const w::workload& one = *w::find_workload("trisolve");
  w::parameters values = w::default_parameters(one);
  EXPECT_EQ(w::assign(one, "parallelism=20000", values), "");
  EXPECT_STREQ(w::complaint(one, values), "parallelism is greater than rows");
  EXPECT_EQ(w::assign(one, "rows=16M", values), "");
  EXPECT_EQ(w::assign(one, "elements=256", values), "");
  EXPECT_STREQ(w::complaint(one, values), "the matrix is too large");
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// The always-abort paper, IV-B: a sparse triangular solver whose threads run ahead of its barriers.
#include "experiments/experiment.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::experiments {

namespace {

struct matrix {
  const char* name;
  std::vector<setting> settings;
  double gains[5];  ///< in percent, with 2, 4, 8, 12 and 16 threads
};

/// One sixteenth of each matrix's rows, with the matrix's parallelism and its elements per row.
const std::vector<matrix>& matrices() {
  static const std::vector<matrix> all = {
      {"offshore", {{"rows", 16'236}, {"parallelism", 75}, {"elements", 8}}, {3.88, 15.58, 12.18, 10.78, 3.04}},
      {"inline_1", {{"rows", 31'482}, {"parallelism", 288}, {"elements", 36}}, {0.49, 1.24, 2.70, 2.03, 5.76}},
      {"thermal2", {{"rows", 76'752}, {"parallelism", 991}, {"elements", 3}}, {0.29, 9.97, 11.47, 9.51, 10.83}},
  };
  return all;
}

experiment table_1() {
  experiment made = {
      .id = "always-abort-table-1",
      .title = "a backward sparse triangular solver, its barrier and one whose early threads run ahead",
      .source = "always-abort paper, IV-B, Table I",
      .machine = "broadwell-e5-2697v4",
      .workload = "trisolve",
      .operations = 1,
      .measured = quantity::throughput,
      .along = {by_threads, "threads", {1, 2, 4, 8, 12, 16}},
      .variants = {},
      .facts = {},
      .allowed = of_table_1,
      .cold = true,
      .remark =
          "Matrices are random. They have a sixteenth of the rows of the paper's, with their parallelism and elements "
          "per row; level widths and row lengths are uniformly distributed. One solve is run, and its data is in no "
          "cache before: at this scale it would fit into the cores' own caches. The paper does not say what its runs "
          "found there. A hit is within 3 % of the ratio.",
  };
  constexpr unsigned more_threads[] = {2, 4, 8, 12, 16};
  for (const matrix& one : matrices()) {
    const std::string plain = one.name;
    const std::string warm = plain + ", aahtm";
    made.variants.push_back({plain, "libgomp_barrier", 1, one.settings});
    made.variants.push_back({warm, "warm_barrier", 1, one.settings});
    const auto gain = [&](std::uint64_t threads, double percent) {
      return fact{.variant = warm,
                  .at = threads,
                  .expected = exactly(1 + percent / 100),
                  .source = "Table I",
                  .read = reading::ratio,
                  .beside = plain,
                  .answers = "C2-3"};
    };
    made.facts.push_back(gain(1, 0));
    for (unsigned i = 0; i < 5; ++i) made.facts.push_back(gain(more_threads[i], one.gains[i]));
  }
  return made;
}

}  // namespace

std::vector<experiment> always_abort_barrier() { return {table_1()}; }

}  // namespace txsync::TXSYNC_INLINE_BACKEND::experiments

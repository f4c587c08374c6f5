// SPDX-License-Identifier: Apache-2.0
// The experiments of `txsync lab`: their runs, and their part of the document.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/evaluate.hpp"
#include "experiments/experiment.hpp"
#include "sim/models/machine_file.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {

/// An experiment that was run.
struct lab_result {
  const experiments::experiment* of;
  sim::machine machine;  ///< with the experiment's changes
  experiments::results results;
  std::vector<experiments::comparison> comparisons;
  std::vector<std::string> faults;  ///< points that failed the workload's own check
  bool interrupted = false;
};

/// The machine of an experiment, with its changes. Throws bad_input if there is none.
sim::machine machine_of(const experiments::experiment& of);

/// Simulates every point of an experiment that has a workload. Throws bad_input if that is impossible.
lab_result run_experiment(const experiments::experiment& of, const std::string& image, std::uint64_t seed);

/// The folder in which integrations/*-simulated.sh builds whole programs: `build` of the checkout that this txsync was
/// built in. It may not exist.
std::string folder_of_programs();

/// Nothing if all files of the experiment's whole program are in the folder. Otherwise which one is missing or wrong,
/// and the command that builds it.
std::string complaint_of_programs(const experiments::experiment& of, const std::string& folder);

/// Simulates every point of an experiment that has a whole program. A run that fails ends its point with a fault.
/// Requires: complaint_of_programs() is empty. Throws bad_input if the machine is missing.
lab_result run_program_experiment(const experiments::experiment& of, const std::string& folder, std::uint64_t seed);

/// The source of the number: "paper" or "formula".
const char* paper_word(const experiments::comparison& one) noexcept;

/// Adds member `lab` to the document. The points are added after the existing ones.
void add_to_document(observe::document& document, const std::vector<lab_result>& all);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate

// SPDX-License-Identifier: Apache-2.0
// Runs on the simulated machine: of a workload, or of a program that txsync-c++ has built.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "base/words.hpp"
#include "measure/measure.hpp"
#include "policy/policy.hpp"
#include "sim/host/image.hpp"
#include "sim/models/machine_file.hpp"
#include "symbols/symbols.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {

struct sim_request {
  sim::machine machine;
  measure::bench_request bench;
  std::string image;
  std::string machine_word;  ///< the user's name for it; empty for machines that a user cannot name
  std::uint64_t slack_cycles = 0;
  bool uncharged_set_up = false;
  bool oracle = false;
};

/// Runs every cell. A failure of the program's own check is in the points. Throws bad_input if the simulation itself
/// cannot go on.
measure::bench_result simulate(const sim_request& request);

/// The arguments of the workloads' image for one run (workloads/harness/simulated_main.cpp).
base::words image_arguments(const workloads::workload& which, const std::string& lock, const workloads::plan& how,
                            const workloads::parameters& values);

/// A program that txsync-c++ has built.
struct program_request {
  sim::machine machine;
  std::string machine_word;
  base::words command;  ///< the program and its arguments
  std::uint64_t seed = 1;
  std::uint64_t slack_cycles = 0;
  std::uint64_t limit_ms = 0;  ///< of simulated time; 0: none
  bool oracle = false;
  bool elides = false;
  std::string policy_word;                   ///< from --policy; empty without it
  std::optional<policy::policy_set> policy;  ///< what it stands for
};

/// The path of a command's program, which txsync-c++ has built. Throws launch::cannot_start.
std::string simulated_program(const base::words& command);

/// Runs it on the machine with the standard input and output of this process. Reports on standard error, and fills the
/// document. Returns the program's own status, or one of these:
///  - 127 or 126 if it cannot be started;
///  - 128 plus the signal's number if a signal ended it;
///  - 1 if the simulation could not go on.
int run_program(observe::document& into, const program_request& request);

/// Adds the outcome of the attempts of a run, which took so many cycles on each thread.
void add_attempts(observe::point& point, const sim::image_result& seen, std::uint64_t cycles);
/// Adds what the program's own sites counted of its attempts.
void add_sites(observe::point& point, const sim::image_result& seen);
/// abort_ends(): the code that attempts had reached when they ended, the most frequent first. abort_places(): the
/// accesses and data at which they ended.
std::vector<observe::abort_end> abort_ends(const symbols::module_symbols& symbols, const sim::image_result& seen);
std::vector<observe::abort_place> abort_places(const symbols::module_symbols& symbols, const sim::image_result& seen);

/// The machine of --machine. Throws bad_input, even if it is absent.
sim::machine checked_machine(const std::optional<std::string>& word);

/// The documents' object for the machine.
observe::json machine_object(const sim::machine& machine);

void print_attempts(std::FILE* out, const measure::bench_result& result);
void print_abort_places(std::FILE* out, const measure::bench_result& result);

/// Whether somebody has ended the image, and perhaps this process, too: by Ctrl-C, for instance.
bool is_cut_short(const sim::image_result& seen);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate

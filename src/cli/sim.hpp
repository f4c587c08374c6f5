// SPDX-License-Identifier: Apache-2.0
// The parts of `txsync sim`: the request, the runs on the simulated machine, the tables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/bench.hpp"
#include "cli/verb.hpp"
#include "launch/symbols.hpp"
#include "policy/policy.hpp"
#include "sim/host/image.hpp"
#include "sim/models/machine_file.hpp"

namespace txsync::inline TXSYNC_BACKEND::cli {

struct sim_request {
  sim::machine machine;
  bench_request bench;
  std::string image;
  std::string machine_word;  ///< by which the user asked for it; empty where nobody could
  std::uint64_t slack_cycles = 0;
  bool uncharged_set_up = false;
  bool oracle = false;
};

/// Runs every cell; a fault of the program's own check is in the points. Throws bad_input where the simulation itself
/// cannot go on.
bench_result simulate(const sim_request& request);

/// What the image of workloads is to be called with for one run (workloads/simulated_main.cpp).
words image_arguments(const workloads::workload& which, const std::string& lock, const workloads::plan& how,
                      const workloads::parameters& values);

/// A program that txsync-c++ has built.
struct program_request {
  sim::machine machine;
  std::string machine_word;
  words command;  ///< the program and its arguments
  std::uint64_t seed = 1;
  std::uint64_t slack_cycles = 0;
  std::uint64_t limit_ms = 0;  ///< of virtual time; 0: none
  bool oracle = false;
  bool elides = false;
  std::string policy_word;                   ///< of --policy; empty without
  std::optional<policy::policy_set> policy;  ///< what it stands for
};

/// The path of a command's program, which txsync-c++ has built. Throws launch::cannot_start.
std::string simulated_program(const words& command);

/// Runs it on the machine with the standard input and output of this process, prints what there is to tell on the
/// standard error, and fills the document. Answers the program's own status; 127 or 126 where it cannot be started, 128
/// and the signal's number where a signal ended it, 1 where the simulation could not go on.
int run_program(session& with, const program_request& request);

/// Adds what became of the attempts of a run, which took so many cycles on each thread.
void add_attempts(observe::point& point, const sim::image_result& seen, std::uint64_t cycles);
/// Adds what the program's own sites counted of them.
void add_sites(observe::point& point, const sim::image_result& seen);
/// Where they ended.
/// Where attempts were as they ended, most frequent first.
std::vector<observe::abort_end> abort_ends(const launch::module_symbols& symbols, const sim::image_result& seen);
std::vector<observe::abort_place> abort_places(const launch::module_symbols& symbols, const sim::image_result& seen);

/// The machine of --machine. Throws bad_input, also where there is none.
sim::machine checked_machine(const std::optional<std::string>& word);

/// What the documents say of the machine.
observe::json machine_object(const sim::machine& machine);

void print_attempts(std::FILE* out, const bench_result& result);
void print_abort_places(std::FILE* out, const bench_result& result);

}  // namespace txsync::inline TXSYNC_BACKEND::cli

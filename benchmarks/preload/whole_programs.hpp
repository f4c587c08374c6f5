// SPDX-License-Identifier: Apache-2.0
// Claim A3-5: what `txsync run` costs whole programs. Each program runs in interleaved rounds: unchanged, with its own
// locks counted, and under each policy that `txsync tune` tries by itself. Every ratio is to the plain run of the same
// round.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "observe/document/document.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

struct whole_programs_options {
  unsigned rounds = 20;
  std::string own_times;               ///< the program that measures its own waits and holds
  std::string integrations;            ///< the folder of that name: programs in Python and Java
  std::vector<std::string> only = {};  ///< names of programs; empty: all
};

/// The names that `only` may have.
std::vector<std::string> whole_program_names();

/// Adds points and claims, and prints a table. A program that is not installed is left out, and named. Some ten minutes
/// with 20 rounds. A signal ends the measurement: `into` is then marked as interrupted, and has the programs that were
/// complete. Throws std::runtime_error if a program fails.
void measure_whole_programs(observe::document& into, const whole_programs_options& asked, std::FILE* table);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

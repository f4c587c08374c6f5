// SPDX-License-Identifier: Apache-2.0
// plain_model MACHINE FILE: writes a machine's numbers as the runtime of simulated programs reads them.
#include <cstdio>
#include <exception>
#include <fstream>

#include "sim/models/machine_file.hpp"
#include "sim/models/plain_text.hpp"

int main(int count, char** words) try {
  if (count != 3) {
    std::fprintf(stderr, "usage: plain_model MACHINE FILE\n");
    return 2;
  }
  std::ofstream file(words[2]);
  file << txsync::sim::to_plain_text(txsync::sim::load_machine(words[1]).model);
  file.close();
  return file ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "plain_model: %s\n", error.what());
  return 1;
}

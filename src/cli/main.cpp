// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"

int main(int argc, char** argv) { return txsync::cli::run_command(argc, argv); }

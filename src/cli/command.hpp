// SPDX-License-Identifier: Apache-2.0
// txsync, the command, all of it but main(): so that CLI11 is compiled once, with options.cpp.
#pragma once

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::cli {

/// Does what the command line says and answers the exit status. All errors become one line here.
int run_command(int argc, char** argv);

}  // namespace txsync::inline TXSYNC_BACKEND::cli

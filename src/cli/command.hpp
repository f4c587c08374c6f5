// SPDX-License-Identifier: Apache-2.0
// The txsync command without main(), so that CLI11 is compiled only once, with options.cpp.
#pragma once

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::cli {

/// Does what the command line says and returns the exit status. Here all errors become one line.
int run_command(int argc, char** argv);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "machine/posix/symbol_version.hpp"

/// Stands before each function that replaces one of the C library. It may throw if the original may: a cancelled thread
/// unwinds through condition waits.
#define TXSYNC_INTERPOSE extern "C" __attribute__((visibility("default")))

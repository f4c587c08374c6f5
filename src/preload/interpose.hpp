// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "machine/posix/symbol_version.hpp"

/// Before each function that takes the place of the C library's. It may throw where theirs may: a cancelled thread
/// unwinds through condition waits.
#define TXSYNC_INTERPOSE extern "C" __attribute__((visibility("default")))

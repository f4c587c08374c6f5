// SPDX-License-Identifier: Apache-2.0
// The steps of a schedule, for people: who did what, and where in the source.
#pragma once

#include <cstdio>
#include <string>

#include "sim/host/image.hpp"

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::cli {

/// Steps of one thread at one place stand in one line. With `calls`, what a thread does within the library that stands
/// between the program and the machine (pthread_mutex_lock and all that it calls) is one line, but for its sleeping,
/// its waking others, and what becomes of attempts.
void print_interleaving(std::FILE* out, const std::string& image, const sim::image_result& seen, bool calls);

}  // namespace txsync::inline TXSYNC_BACKEND::cli

// SPDX-License-Identifier: Apache-2.0
// The steps of a schedule, for people: which thread did what, and where in the source.
#pragma once

#include <cstdio>
#include <string>

#include "sim/host/image.hpp"

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::simulate {

/// Steps of one thread at one place stand in one line. With `calls`, a thread's steps within the library between
/// program and machine are one line (pthread_mutex_lock and everything that it calls). Sleeping, waking others, and the
/// ends of attempts still have lines of their own.
void print_interleaving(std::FILE* out, const std::string& image, const sim::image_result& seen, bool calls);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::simulate

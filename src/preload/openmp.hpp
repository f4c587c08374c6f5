// SPDX-License-Identifier: Apache-2.0
// The functions of the OpenMP library behind libtxsync-openmp.so.
#pragma once

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

/// Enough for the arguments of every function below, in registers and on the stack. A function that takes fewer does
/// not read the others.
using task_function = long (*)(long, long, long, long, long, long, long, long, long, long, long, long);

struct openmp_functions {
  void (*parallel)(void (*body)(void*), void* data, unsigned threads, unsigned flags);
  void (*barrier)();
  task_function task;
  task_function taskloop;
  task_function taskloop_ull;
  task_function target;
  task_function target_update;
  task_function target_data;
  // What OpenMP calls int is never negative here.
  int (*num_threads)();
  int (*level)();
  int (*cancellation)();
};

/// Found at the first call. Thread-safe. Ends the program with a message if no OpenMP library can be found: a program
/// that calls its functions has one.
const openmp_functions& openmp() noexcept;

/// Whether barriers are served: only if there are always-abort attempts.
bool serves_barriers() noexcept;

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

/// A lock of a library that takes it across fork(), as allocators and loggers do, with a condition. The handlers of the
/// library run before those of libraries that are loaded earlier.
extern pthread_mutex_t early_mutex;
extern pthread_cond_t early_condition;
extern int early_handler_errors;

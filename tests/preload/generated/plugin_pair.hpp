// SPDX-License-Identifier: Apache-2.0
// What each of two libraries with locks offers, by the name `plugin_of_a_pair`.
#pragma once

#include <pthread.h>

namespace generated {

struct plugin_face {
  int number;
  int static_type;  ///< of its mutex in static storage, as PTHREAD_MUTEX_NORMAL
  int heap_type;    ///< of that on its heap
  pthread_mutex_t* in_static_storage;
  pthread_mutex_t* on_heap;
  /// Takes all locks, and counts under them. Any thread may do it.
  void (*count)();
  /// The counts, or -1 where they differ. No thread may count meanwhile.
  long (*counted)();
};

}  // namespace generated

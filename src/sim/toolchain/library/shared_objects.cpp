// SPDX-License-Identifier: Apache-2.0
// A simulated program is linked statically: there are no shared objects but itself, and its names are not known.
#include <dlfcn.h>

#include "touch.hpp"

using namespace txsync::sim::library;

namespace {

char program = 0;  // its address is the handle
thread_local bool has_failed = false;

}  // namespace

extern "C" {

void* txsync_sim_dlopen(const char* name, int) {
  outside("dlopen");
  if (!name) return &program;
  reads_string(name);
  has_failed = true;
  return nullptr;
}
int txsync_sim_dlclose(void*) {
  outside("dlclose");
  return 0;
}
char* txsync_sim_dlerror() {
  static char text[] = "a simulated program is linked statically, and loads nothing";
  outside("dlerror");
  if (!has_failed) return nullptr;
  has_failed = false;
  return text;
}
int txsync_sim_dladdr(const void*, Dl_info*) {
  outside("dladdr");
  return 0;
}

// Calls of a thread by addresses: their names are not known either.
int txsync_sim_backtrace(void**, int) {
  outside("backtrace");
  return 0;
}
char** txsync_sim_backtrace_symbols(void* const*, int) {
  outside("backtrace_symbols");
  return nullptr;
}
void txsync_sim_backtrace_symbols_fd(void* const*, int, int) { outside("backtrace_symbols_fd"); }

}  // extern "C"

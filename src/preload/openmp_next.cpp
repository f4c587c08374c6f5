// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

#include <txsync/machine/attempt.hpp>

#include "found_once.hpp"
#include "openmp.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::preload {

namespace {

/// The library that the program is linked with, or one that it has opened for a part of its own.
template <class Function>
void find(Function& out, const char* name) noexcept {
  void* function = dlsym(RTLD_NEXT, name);
  if (function == nullptr) {
    void* const library = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (library != nullptr) function = dlsym(library, name);
  }
  out = reinterpret_cast<Function>(function);
}

void find_all(openmp_functions& all) noexcept {
  find(all.parallel, "GOMP_parallel");
  find(all.barrier, "GOMP_barrier");
  find(all.task, "GOMP_task");
  find(all.taskloop, "GOMP_taskloop");
  find(all.taskloop_ull, "GOMP_taskloop_ull");
  find(all.target, "GOMP_target_ext");
  find(all.target_update, "GOMP_target_update_ext");
  find(all.target_data, "GOMP_target_enter_exit_data");
  find(all.num_threads, "omp_get_num_threads");
  find(all.level, "omp_get_level");
  find(all.cancellation, "omp_get_cancellation");
  if (all.parallel != nullptr && all.barrier != nullptr && all.num_threads != nullptr && all.level != nullptr &&
      all.cancellation != nullptr) {
    return;
  }
  constexpr char sentence[] =
      "txsync: the program's OpenMP library cannot be found; run it without openmp_barrier = \"warm\"\n";
  (void)!write(STDERR_FILENO, sentence, sizeof sentence - 1);
  std::abort();
}

}  // namespace

const openmp_functions& openmp() noexcept { return found_once<openmp_functions, find_all>(); }

#ifndef TXSYNC_SERVE_BARRIERS_ANYWAY  // a build for tests, where warm_barrier is a plain barrier
bool serves_barriers() noexcept { return machine::htm().always_abort; }
#else
bool serves_barriers() noexcept { return true; }
#endif

}  // namespace txsync::TXSYNC_INLINE_BACKEND::preload

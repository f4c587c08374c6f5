// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include <txsync/machine/attempt.hpp>
#include <txsync/machine/thread.hpp>

#include "openmp.hpp"

namespace txsync::inline TXSYNC_BACKEND::preload {

namespace {

/// The library that the program is linked with, or one that it has opened for a part of its own.
template <class Function>
void find(Function& out, const char* name) noexcept {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    void* const library = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (library != nullptr) found = dlsym(library, name);
  }
  out = reinterpret_cast<Function>(found);
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
      "txsync: the program's OpenMP library cannot be found; run it without barrier = \"warm\"\n";
  (void)!write(STDERR_FILENO, sentence, sizeof sentence - 1);
  std::abort();
}

}  // namespace

const openmp_functions& openmp() noexcept {
  static constinit openmp_functions found{};
  static constinit std::atomic<std::uint32_t> state{0};  // 0: nobody looked; 1: somebody does; 2: found
  // acquire pairs with the release below
  while (state.load(std::memory_order_acquire) != 2) {
    std::uint32_t nobody = 0;
    // relaxed: only who is first matters
    if (state.compare_exchange_strong(nobody, 1, std::memory_order_relaxed)) {
      find_all(found);
      state.store(2, std::memory_order_release);
    } else {
      machine::yield();
    }
  }
  return found;
}

#ifndef TXSYNC_SERVE_BARRIERS_ANYWAY  // a build for tests, where warm_barrier is a plain barrier
bool serves_barriers() noexcept { return machine::htm().always_abort; }
#else
bool serves_barriers() noexcept { return true; }
#endif

}  // namespace txsync::inline TXSYNC_BACKEND::preload

// SPDX-License-Identifier: Apache-2.0
// The libraries are linked with --wrap=clock_gettime. Another preloaded library may replace that function
// (libfaketime), but the kernel ends a sleep by the real time. So must we.
#include <dlfcn.h>

#include <ctime>

#include "found_once.hpp"

namespace {

struct clock_function {
  decltype(&clock_gettime) read;
};

void find(clock_function& out) noexcept {
  out.read = reinterpret_cast<decltype(&clock_gettime)>(dlsym(RTLD_NEXT, "clock_gettime"));
}

const clock_function& real_clock() noexcept { return txsync::preload::found_once<clock_function, find>(); }

// Early, so that no later call has to look for it.
[[gnu::constructor]] void find_now() noexcept { (void)real_clock(); }

}  // namespace

extern "C" int __wrap_clock_gettime(clockid_t clock, timespec* now) noexcept { return real_clock().read(clock, now); }

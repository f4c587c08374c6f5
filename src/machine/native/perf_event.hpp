// SPDX-License-Identifier: Apache-2.0
// The kernel's event counters. They have their own header, because only the tools sample, not the library.
#pragma once

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

/// perf_event_open(2): returns a descriptor that later programs do not inherit, or minus an error number. `process` 0
/// is the calling thread.
inline long open_perf_event(perf_event_attr& what, pid_t process, int cpu) noexcept {
  const long made = syscall(SYS_perf_event_open, &what, process, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  return made >= 0 ? made : -errno;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

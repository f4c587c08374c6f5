// SPDX-License-Identifier: Apache-2.0
// The kernel's counters of events. A header of its own, since the library itself samples nothing: the tools do.
#pragma once

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>

#include <txsync_backend/name.hpp>

namespace txsync::inline TXSYNC_BACKEND::machine {

/// perf_event_open(2): a descriptor that programs started later do not get, or minus an error number. `process` 0 is
/// the calling thread.
inline long open_perf_event(perf_event_attr& what, pid_t process, int cpu) noexcept {
  const long made = syscall(SYS_perf_event_open, &what, process, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  return made >= 0 ? made : -errno;
}

}  // namespace txsync::inline TXSYNC_BACKEND::machine

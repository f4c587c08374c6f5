// SPDX-License-Identifier: Apache-2.0
// The steps of a traced run, with the values that were read and written.
#include <sys/uio.h>
#include <unistd.h>

#include <utility>

#include "access.hpp"
#include "records.hpp"
#include "traces.hpp"

namespace txsync::sim {

namespace {

struct unfinished_write {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;  ///< 0: there is none
  std::uint64_t before = 0;
};
constinit unfinished_write last_write{};

/// False if the program may not read there: then its own access tells what is wrong.
bool read_value(std::uintptr_t address, std::size_t bytes, std::uint64_t& value) noexcept {
  value = 0;
  const iovec to{&value, bytes};
  const iovec from{reinterpret_cast<void*>(address), bytes};
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == static_cast<ssize_t>(bytes);
}

/// The program has made the write since: nothing has happened between it and this.
void finish_write() noexcept {
  if (last_write.bytes == 0) return;
  const unfinished_write one = std::exchange(last_write, {});
  if (std::uint64_t after = 0; read_value(one.address, one.bytes, after))
    write_record(step_values{static_cast<std::uint32_t>(one.bytes), one.before, after});
}

}  // namespace

void trace(const thread_record& thread, std::uintptr_t code, step_kind what, std::uintptr_t address) noexcept {
  finish_write();
  write_record(trace_step{thread.id, code, what, address});
}

void trace_access(const thread_record& thread, std::uintptr_t code, byte_range accessed, bool write) noexcept {
  trace(thread, code, write ? step_kind::writes : step_kind::reads, accessed.from);
  std::uint64_t value = 0;
  if (accessed.bytes > sizeof value || !read_value(accessed.from, accessed.bytes, value)) return;
  if (write) {
    last_write = {accessed.from, accessed.bytes, value};
  } else {
    write_record(step_values{static_cast<std::uint32_t>(accessed.bytes), value, value});
  }
}

void end_trace() noexcept { finish_write(); }

}  // namespace txsync::sim

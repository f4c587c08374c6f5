// SPDX-License-Identifier: Apache-2.0
// The steps of a traced run, with the values that were read and written.
#include <cstring>
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

std::uint64_t value_at(std::uintptr_t address, std::size_t bytes) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(address), bytes);
  return value;
}

/// The program has made the write since: nothing has happened between it and this.
void finish_write() noexcept {
  if (last_write.bytes == 0) return;
  const unfinished_write one = std::exchange(last_write, {});
  write_record(step_values{static_cast<std::uint32_t>(one.bytes), one.before, value_at(one.address, one.bytes)});
}

}  // namespace

void trace(const thread_record& thread, std::uintptr_t code, step_kind what, std::uintptr_t address) noexcept {
  finish_write();
  write_record(trace_step{thread.id, code, what, address});
}

void trace_access(const thread_record& thread, std::uintptr_t code, byte_range accessed, bool write) noexcept {
  trace(thread, code, write ? step_kind::writes : step_kind::reads, accessed.from);
  if (accessed.bytes > sizeof(std::uint64_t)) return;
  const std::uint64_t value = value_at(accessed.from, accessed.bytes);
  if (write) {
    last_write = {accessed.from, accessed.bytes, value};
  } else {
    write_record(step_values{static_cast<std::uint32_t>(accessed.bytes), value, value});
  }
}

void end_trace() noexcept { finish_write(); }

}  // namespace txsync::sim

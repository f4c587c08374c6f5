// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <iterator>

#include <txsync/machine/cpu.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::cache_server {

/// What a worker counts. memcached 1.4.5 counts the same for each thread.
enum class counted : std::uint8_t {
  cmd_get,
  cmd_set,
  cmd_flush,
  cmd_touch,
  get_hits,
  get_misses,
  delete_misses,
  delete_hits,
  incr_misses,
  incr_hits,
  decr_misses,
  decr_hits,
  cas_misses,
  cas_hits,
  cas_badval,
  touch_hits,
  touch_misses,
  bytes_read,
  bytes_written,
  all
};
inline constexpr const char* counted_names[] = {
    "cmd_get",     "cmd_set",     "cmd_flush",    "cmd_touch",   "get_hits",     "get_misses", "delete_misses",
    "delete_hits", "incr_misses", "incr_hits",    "decr_misses", "decr_hits",    "cas_misses", "cas_hits",
    "cas_badval",  "touch_hits",  "touch_misses", "bytes_read",  "bytes_written"};
inline constexpr unsigned counted_kinds = static_cast<unsigned>(counted::all);
static_assert(std::size(counted_names) == counted_kinds);

/// The counters of one worker. Only the worker adds; any thread may read.
class alignas(machine::pad_bytes) counters {
 public:
  void add(counted what, std::uint64_t more = 1) noexcept {
    std::atomic<std::uint64_t>& at = at_[static_cast<unsigned>(what)];
    at.store(at.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);  // relaxed: guards nothing
  }
  std::uint64_t read(unsigned what) const noexcept { return at_[what].load(std::memory_order_relaxed); }  // likewise
  /// May miss an add() of the worker that runs at the same time.
  void reset() noexcept {
    for (auto& one : at_) one.store(0, std::memory_order_relaxed);  // likewise
  }

 private:
  std::atomic<std::uint64_t> at_[counted_kinds] = {};
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::cache_server

// SPDX-License-Identifier: Apache-2.0
// Stamps: how many operations a thread had done at what time. windows.hpp computes from them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <txsync/machine/cpu.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

struct stamp {
  std::uint64_t cycles;
  std::uint64_t operations;
};

/// After how many operations the next stamp is due: `stride` operations took `took` cycles, and the time from stamp to
/// stamp shall be `aimed`. A thread that has become slower gets fewer at once. One that has become faster gets twice as
/// many, because the time may have been short by accident.
constexpr std::uint64_t next_stride(std::uint64_t stride, std::uint64_t took, std::uint64_t aimed) noexcept {
  const std::uint64_t fitting = stride * aimed / std::max<std::uint64_t>(took, 1);
  return std::clamp<std::uint64_t>(fitting, 1, 2 * stride);
}

/// The stamps of one thread, in room that is there before it runs. Only that thread adds stamps.
struct alignas(machine::pad_bytes) stamp_log {
  stamp* first = nullptr;
  std::size_t room = 0;  ///< later stamps are not kept
  std::size_t count = 0;
  std::uint64_t aimed_cycles = 0;  ///< from stamp to stamp
  std::uint64_t last_cycles = 0;
  std::uint64_t stride = 1;

  /// Keeps the stamp if it `counts`. Returns after how many operations the next one is due.
  std::uint64_t add(stamp now, bool counts) noexcept {
    if (counts && count < room) first[count++] = now;
    stride = next_stride(stride, now.cycles - last_cycles, aimed_cycles);
    last_cycles = now.cycles;
    return stride;
  }
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

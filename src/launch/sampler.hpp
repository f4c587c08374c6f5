// SPDX-License-Identifier: Apache-2.0
// Samples an event in programs that this process starts. About a thousand times a second on each CPU, the kernel
// records where the thread was.
//
// The kernel writes into a ring of memory for each CPU, which is read while the program runs. A sample costs the
// program an interrupt. An event that does not happen costs nothing.
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launch/code_samples.hpp"
#include "launch/counted_event.hpp"
#include "launch/sample_records.hpp"

namespace txsync::inline TXSYNC_BACKEND::launch {

/// Why the kernel refuses to sample, and what may help. `error` is its error number, `paranoid` what
/// /proc/sys/kernel/perf_event_paranoid says.
std::string why_refused(int error, const std::string& paranoid);

/// What the kernel has written into a ring since the last call. Gives the room back. Null if head and tail are
/// inconsistent: then the contents are lost. `room` has a power of two of bytes.
std::optional<std::vector<unsigned char>> take_written(perf_event_mmap_page& head, std::span<const unsigned char> room);

class sampler {
 public:
  /// Samples all programs that the calling thread starts while this lives, and what they start, from their exec on. If
  /// the kernel refuses, take() says why.
  explicit sampler(const counted_event& what);
  ~sampler();
  sampler(const sampler&) = delete;
  sampler& operator=(const sampler&) = delete;

  /// Takes what has been written. To be called often, or samples are lost: a ring has room for some 500.
  void read();
  /// Everything that has been read. To be called once.
  code_samples take();

 private:
  class ring;
  void open(const counted_event& what);

  std::vector<ring> rings_;
  record_reader reader_;
  sample_adder sums_;
  std::string why_not_;
};

}  // namespace txsync::inline TXSYNC_BACKEND::launch

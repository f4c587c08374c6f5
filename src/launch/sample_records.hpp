// SPDX-License-Identifier: Apache-2.0
// The records that the kernel writes for a sampled event, in the layout of perf_event_open(2) and linux/perf_event.h.
// The bytes may hold anything: damaged records are counted and skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

/// Where a thread was at an event.
struct code_sample {
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t code = 0;
  std::uint64_t events = 1;  ///< how many events it stands for
  /// In the program, not in the kernel, the innermost first. The first address is where the thread went on after the
  /// event; for an abort that is after the attempt. The addresses after the calls follow.
  std::vector<std::uint64_t> calls = {};
  std::uint64_t cycles = 0;       ///< the kernel's "weight": for an abort, the cycles that the attempt had run
  std::uint64_t transaction = 0;  ///< bits PERF_TXN_...; 0 if the event has nothing to do with hardware transactions
};

/// A file of code, or a part of one, was mapped into a process.
struct code_mapping {
  std::uint32_t process = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  ///< in the file
  std::string path;
};

struct process_start {
  std::uint32_t process = 0;
  std::uint32_t parent = 0;
  std::uint64_t time_ns = 0;
};

struct sample_records {
  std::vector<code_sample> samples;
  std::vector<code_mapping> mappings;
  std::vector<process_start> starts;
  std::uint64_t lost = 0;     ///< records for which the kernel had no room
  std::uint64_t damaged = 0;  ///< records, or stretches, that cannot be understood
};

class record_reader {
 public:
  /// `sample_type`: the parts of each sample. With sample_id_all, they also end the other records. Throws
  /// std::invalid_argument for parts other than ip, tid, time, addr, id, stream_id, cpu, period, callchain, weight,
  /// data_src, transaction and identifier.
  explicit record_reader(std::uint64_t sample_type);

  /// Adds what the bytes hold. Records of other kinds are skipped. After a record with an impossible size nothing more
  /// is read.
  void read(std::span<const unsigned char> bytes, sample_records& into) const;

 private:
  bool has(std::uint64_t part) const noexcept { return (sample_type_ & part) != 0; }
  bool read_sample(std::span<const unsigned char> body, sample_records& into) const;
  bool read_mapping(std::span<const unsigned char> body, sample_records& into) const;

  std::uint64_t sample_type_;
  std::size_t id_bytes_ = 0;       // at the end of records that are not samples
  std::size_t time_from_end_ = 0;  // 0: they have no time
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch

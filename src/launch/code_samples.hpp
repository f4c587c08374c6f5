// SPDX-License-Identifier: Apache-2.0
// The samples of an event added up: how many at a place in the code, and by which calls it was reached.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <txsync/machine/abort_cause.hpp>

#include "channel/processes.hpp"
#include "launch/sample_records.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

/// A place in the code of a process, with the calls that led there.
struct sampled_place {
  std::uint32_t process = 0;
  std::uint64_t code = 0;
  std::vector<std::uint64_t> calls;  ///< see code_sample::calls
  std::optional<abort_cause> cause;  ///< of an aborted hardware transaction
  auto operator<=>(const sampled_place&) const = default;
};

struct sample_sum {
  std::uint64_t samples = 0;
  std::uint64_t events = 0;  ///< which the samples stand for
  std::uint64_t cycles = 0;  ///< the events' weights, estimated likewise
};

struct code_samples {
  std::map<sampled_place, sample_sum> places;
  std::vector<code_mapping> mappings;  ///< by time
  std::vector<process_start> starts;
  std::uint64_t samples = 0;
  std::uint64_t lost = 0;      ///< records for which the kernel had no room
  std::uint64_t damaged = 0;   ///< records that could not be understood
  std::uint64_t left_out = 0;  ///< samples of places beyond max_places
  /// Mappings and starts beyond max_mappings and max_starts: samples there have no names.
  std::uint64_t unnamed = 0;
  std::string why_not = {};  ///< one line: why nothing was sampled
};

/// The first cause (docs/abort-causes.md) in the bits PERF_TXN_... of a sample; none if the event was no abort.
std::optional<abort_cause> cause_of(std::uint64_t transaction) noexcept;

class sample_adder {
 public:
  /// With its calls a place takes some 200 bytes. So does a mapping.
  static constexpr std::size_t max_places = 65536;
  static constexpr std::size_t max_mappings = 65536;
  static constexpr std::size_t max_starts = 65536;

  explicit sample_adder(bool (*has_ended)(std::uint32_t process) noexcept = channel::has_ended) noexcept
      : has_ended_(has_ended) {}

  void add(sample_records some);
  /// Everything that was added. To be called once.
  code_samples take();

 private:
  void count(code_sample& sample);
  void forget_ended();

  bool (*has_ended_)(std::uint32_t process) noexcept;
  std::size_t next_look_ = max_mappings / 2;  ///< at so many mappings, or starts, ended processes are looked for
  code_samples sum_;
};

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch

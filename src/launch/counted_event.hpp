// SPDX-License-Identifier: Apache-2.0
// An event that the machine's counters can sample, as the kernel's files describe it.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <txsync_backend/name.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::launch {

/// Where the kernel lists the sources of events.
inline constexpr const char* event_sources = "/sys/bus/event_source/devices";

/// The members of perf_event_open(2)'s attributes that name the event.
struct counted_event {
  std::uint32_t type = 0;
  std::array<std::uint64_t, 3> config{};  ///< config, config1, config2
  unsigned precision = 0;                 ///< precise_ip; from 2 on a sample has the instruction itself
  std::vector<unsigned> cpus = {};        ///< the CPUs that count it; empty: all
};

/// The event cannot be sampled. One line that says why.
struct no_event : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Aborted hardware transactions: the event "tx-abort" of the processor's counters. These are the folder "cpu" of
/// `sources`, or "cpu_core" if the cores are of two kinds. Throws no_event.
counted_event find_abort_event(const std::string& sources = event_sources);

/// "0-3,8" as 0, 1, 2, 3, 8. Throws no_event for any other text, and for numbers from 65536 on.
std::vector<unsigned> parse_cpu_list(const std::string& text);

}  // namespace txsync::TXSYNC_INLINE_BACKEND::launch

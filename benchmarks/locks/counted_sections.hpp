// SPDX-License-Identifier: Apache-2.0
// An elided critical section of 10 writes, at a site that counts and at one with counting_off. This is the measured
// loop, natively and on the simulated machine. Nothing here is precompiled library code.
#pragma once

#include <cstdint>

#include <txsync/locks/tatas.hpp>
#include <txsync/machine/cpu.hpp>
#include <txsync/policy/site_with_policy.hpp>
#include <txsync/speculate/elided.hpp>

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

inline constexpr unsigned counted_writes = 10;

/// Lock and data lie the same way on a page of their own, whichever the site.
class alignas(4096) counted_section {
 public:
  constexpr explicit counted_section(site& the_site) noexcept : lock_(the_site) {}

  /// Nanoseconds that so many sections take, of one thread.
  [[gnu::noinline]] std::uint64_t run(unsigned sections) noexcept {
    const std::uint64_t start = machine::clock_ns();
    for (unsigned i = 0; i < sections; ++i) {
      lock_.lock();
      for (unsigned word = 0; word < counted_writes; ++word) words_[word] = words_[word] + 1;
      lock_.unlock();
    }
    return machine::clock_ns() - start;
  }

 private:
  alignas(1024) elided<tatas_lock> lock_;
  alignas(1024) volatile std::uint64_t words_[counted_writes] = {};
};

/// What one round measured: nanoseconds of all its sections.
struct counted_round {
  std::uint64_t counted, uncounted;
};

/// Alternating rounds, after one that is not measured. `report(round)` after each.
template <class Report>
void run_counted_sections(unsigned rounds, unsigned sections, Report report) noexcept {
  static constinit site_with_policy counted_site{"bench.counted", elision_presets::eager};
  static constinit site_with_policy uncounted_site{"bench.uncounted", elision_presets::eager, site::counting::off};
  static constinit counted_section counted(counted_site);
  static constinit counted_section uncounted(uncounted_site);
  counted.run(sections);
  uncounted.run(sections);
  for (unsigned i = 0; i < rounds; ++i) {
    counted_round seen{};
    if (i % 2 == 0) seen.counted = counted.run(sections);
    seen.uncounted = uncounted.run(sections);
    if (i % 2 != 0) seen.counted = counted.run(sections);
    report(seen);
  }
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

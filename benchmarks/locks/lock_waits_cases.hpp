// SPDX-License-Identifier: Apache-2.0
// The cases of bench_lock_waits in which threads ask for one lock; each prints its figures.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "locks/lock_waits_load.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks {

/// Prints "name=value "; a process prints one line of these.
inline void report(const char* name, double value) { std::printf("%s=%.9g ", name, value); }

/// Prints figures over the waits of all these threads, without those that a gap explains.
inline void tell_waits(const std::vector<const worker*>& workers, const clock_readers& clocks, double seconds) {
  workloads::latency_histogram lengths;
  std::uint64_t max_kept = 0, max_left_out = 0, left_out = 0, max_turns = 0, cpu_ns = 0;
  for (const worker* const one : workers) {
    lengths.merge(one->waits.lengths);
    max_kept = std::max(max_kept, one->max_short_ns);
    max_turns = std::max(max_turns, one->max_turns);
    cpu_ns += one->waits.cpu_ns;
    for (const interval_ns& wait : one->long_waits) {
      const bool explained = clocks.explain(wait);
      left_out += explained;
      std::uint64_t& longest = explained ? max_left_out : max_kept;
      longest = std::max(longest, wait.length());
    }
  }
  report("waits", static_cast<double>(lengths.count()));
  report("p999_ns", static_cast<double>(lengths.percentile(0.999)));
  report("max_ns", static_cast<double>(max_kept));
  report("left_out", static_cast<double>(left_out));
  report("left_out_max_ns", static_cast<double>(max_left_out));
  report("max_was_left_out", max_left_out > max_kept ? 1 : 0);
  report("turns", static_cast<double>(max_turns));
  report("wait_cpus", static_cast<double>(cpu_ns) / 1e9 / seconds);
  report("gaps", static_cast<double>(clocks.gaps()));
  report("clocks_have_priority", clocks.realtime() ? 1 : 0);
}

/// Prints the operations of each thread, for the shares.
inline void tell_operations(const std::vector<const worker*>& workers) {
  std::printf("operations=");
  for (const worker* const one : workers)
    std::printf("%s%llu", one == workers.front() ? "" : ",", static_cast<unsigned long long>(one->operations));
  std::printf(" ");
}

inline constexpr std::uint64_t run_in_ns = 10'000'000;

/// With `asks` one thread retakes the lock in a loop and the others ask for it now and then. Otherwise all loop.
template <class Lock>
int run_steady(const case_request& wanted, bool asks) {
  const auto shared = std::make_unique<guarded_turns<Lock>>();
  std::atomic<stage> now{stage::run_in};
  std::vector<worker> workers(wanted.threads);
  clock_readers clocks;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < wanted.threads; ++i) {
    threads.emplace_back([&, i] {
      if (!asks) return loop(*shared, now, wanted.section_ns, 0, workers[i]);
      if (i == 0) return hold(*shared, now, wanted.section_ns, workers[i]);
      ask(*shared, now, (wanted.seed + i) * 7'919'000, workers[i]);
    });
  }
  machine::sleep_ns(run_in_ns);
  now = stage::measured;
  const std::uint64_t start = machine::clock_ns();
  machine::sleep_ns(wanted.duration_ns);
  now = stage::over;
  const double seconds = static_cast<double>(machine::clock_ns() - start) / 1e9;
  for (std::thread& one : threads) one.join();
  clocks.stop();

  std::vector<const worker*> told;
  double sections = 0;
  for (const worker& one : workers) {
    sections += static_cast<double>(one.operations);
    if (!asks || &one != workers.data()) told.push_back(&one);
  }
  report("sections_per_s", sections / seconds);
  tell_waits(told, clocks, seconds);
  tell_operations(told);
  return 0;
}

/// Sections of the two threads in the 10 ms from that millisecond on.
inline double in_ten_ms(const std::vector<worker>& two, std::size_t from) {
  double sum = 0;
  for (const worker& one : two) {
    for (std::size_t bin = from; bin < from + 10; ++bin) sum += one.bins[bin];
  }
  return sum;
}

constexpr std::size_t not_seen_ms = 10'000;

/// Milliseconds from `from` to the first 10 ms that reach nine tenths of the median before the load came; up to `end`
/// if none do.
inline double recovery_ms(const std::vector<worker>& two, std::size_t before_end, std::size_t from, std::size_t end) {
  std::vector<double> before;
  for (std::size_t bin = before_end / 4; bin + 10 <= before_end; bin += 10) before.push_back(in_ten_ms(two, bin));
  std::sort(before.begin(), before.end());
  const double enough = before.empty() ? 0 : 0.9 * before[before.size() / 2];
  for (std::size_t bin = from; bin + 10 <= end; ++bin) {
    if (in_ten_ms(two, bin) >= enough) return static_cast<double>(bin - from);
  }
  return static_cast<double>(std::max(end, from + not_seen_ms) - from);
}

/// Two threads loop. More join them for the duration, then end. The two then go on for as long again.
template <class Lock>
int run_wave(const case_request& wanted) {
  const auto shared = std::make_unique<guarded_turns<Lock>>();
  const std::uint64_t alone_ns = wanted.duration_ns * 2 / 3;
  std::vector<worker> two(2), many(wanted.threads);
  for (worker& one : two) one.bins.resize((alone_ns + 2 * wanted.duration_ns) / 1'000'000 + 4'000);
  std::atomic<stage> now{stage::measured}, load{stage::run_in};
  clock_readers clocks;
  std::vector<std::thread> threads, loaded;
  for (worker& one : many) {
    loaded.emplace_back([&] {
      load.wait(stage::run_in);
      loop(*shared, load, wanted.section_ns, 0, one);
    });
  }
  const std::uint64_t start = machine::clock_ns();
  for (worker& one : two) threads.emplace_back([&] { loop(*shared, now, wanted.section_ns, start, one); });
  machine::sleep_ns(alone_ns);
  load = stage::measured;
  load.notify_all();
  const std::uint64_t rise = machine::clock_ns();
  machine::sleep_ns(wanted.duration_ns);
  load = stage::over;
  const std::uint64_t fall = machine::clock_ns();
  for (std::thread& one : loaded) one.join();
  machine::sleep_ns(wanted.duration_ns);
  now = stage::over;
  for (std::thread& one : threads) one.join();
  clocks.stop();

  const auto millisecond = [start](std::uint64_t ns) { return static_cast<std::size_t>((ns - start) / 1'000'000); };
  std::uint64_t gone = fall;
  std::vector<const worker*> told{&two[0], &two[1]};
  double sections = 0;
  for (std::size_t bin = millisecond(rise); bin < millisecond(fall); ++bin)
    sections += two[0].bins[bin] + two[1].bins[bin];
  for (const worker& one : many) {
    told.push_back(&one);
    sections += static_cast<double>(one.operations);
    gone = std::max(gone, one.end_ns);
  }
  // From the fall of the load, so that a line which takes long to drain counts. Where the time does not reach so far,
  // the throughput is not back at the end of what was counted.
  const std::size_t end = std::min(millisecond(gone + wanted.duration_ns), two[0].bins.size());
  report("sections_per_s", sections / (static_cast<double>(fall - rise) / 1e9));
  report("recovery_ms", recovery_ms(two, millisecond(rise), millisecond(fall), std::max(end, millisecond(fall) + 1)));
  report("end_ms", static_cast<double>(gone - fall) / 1e6);
  tell_waits(told, clocks, static_cast<double>(machine::clock_ns() - start) / 1e9);
  tell_operations({told.begin() + 2, told.end()});
  return 0;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::benchmarks

// SPDX-License-Identifier: Apache-2.0
#include "workloads/harness/windows.hpp"

#include <algorithm>

#include <txsync/machine/assert.hpp>

#include "workloads/harness/fairness.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::workloads {

namespace {

using stamps = std::span<const stamp>;

struct stretch {
  std::uint64_t from, to;
};

/// Of all threads, by their beginning.
std::vector<stretch> gaps_of(std::span<const stamps> by_thread, std::uint64_t max_gap) {
  std::vector<stretch> gaps;
  for (const stamps one : by_thread) {
    for (std::size_t i = 1; i < one.size(); ++i) {
      if (one[i].cycles - one[i - 1].cycles > max_gap) gaps.push_back({one[i - 1].cycles, one[i].cycles});
    }
  }
  std::sort(gaps.begin(), gaps.end(), [](const stretch& a, const stretch& b) { return a.from < b.from; });
  return gaps;
}

/// The operations of a thread until then. Requires: the time lies between its stamps.
double operations_at(stamps one, std::uint64_t cycles) {
  const auto next =
      std::lower_bound(one.begin(), one.end(), cycles, [](const stamp& a, std::uint64_t at) { return a.cycles < at; });
  TXSYNC_ASSERT(next != one.end() && (next != one.begin() || next->cycles == cycles), "the time lies between stamps");
  if (next->cycles == cycles) return static_cast<double>(next->operations);
  const stamp& last = *std::prev(next);
  const double part = static_cast<double>(cycles - last.cycles) / static_cast<double>(next->cycles - last.cycles);
  return static_cast<double>(last.operations) + part * static_cast<double>(next->operations - last.operations);
}

/// Room for the stamps of the threads of a run.
class stamp_room {
 public:
  explicit stamp_room(const plan& how)
      : each_(2 * (how.run_in_ns + how.duration_ns) / stamp_ns + 64), all_(how.threads * each_), logs_(how.threads) {
    for (unsigned thread = 0; thread < how.threads; ++thread) {
      logs_[thread].first = &all_[thread * each_];
      logs_[thread].room = each_;
      logs_[thread].aimed_cycles = cycles_of(stamp_ns);
    }
  }
  stamp_log* logs() noexcept { return logs_.data(); }

  window_total windows() const {
    std::vector<stamps> by_thread;
    by_thread.reserve(logs_.size());
    for (const stamp_log& one : logs_) by_thread.emplace_back(one.first, one.count);
    return undisturbed_windows(by_thread, cycles_of(window_ns), cycles_of(max_gap_ns));
  }

 private:
  static std::uint64_t cycles_of(std::uint64_t ns) noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(ns) * 1e-9 *
                                      static_cast<double>(machine::cycles_per_second()));
  }

  std::size_t each_;
  std::vector<stamp> all_;
  std::vector<stamp_log> logs_;
};

}  // namespace

window_total undisturbed_windows(std::span<const stamps> by_thread, std::uint64_t length, std::uint64_t max_gap) {
  TXSYNC_ASSERT(length != 0, "a window has a length");
  window_total sum;
  std::uint64_t at = 0, end = by_thread.empty() ? 0 : ~std::uint64_t{0};
  for (const stamps one : by_thread) {
    if (one.size() < 2) return sum;
    at = std::max(at, one.front().cycles);
    end = std::min(end, one.back().cycles);
  }
  std::vector<stretch> gaps = gaps_of(by_thread, max_gap);
  gaps.push_back({end, end});
  for (const stretch& gap : gaps) {
    const std::uint64_t until = std::min(gap.from, end);
    const std::uint64_t windows = until > at ? (until - at) / length : 0;
    sum.windows += windows;
    for (const stamps one : by_thread) {
      if (windows != 0) sum.operations += operations_at(one, at + windows * length) - operations_at(one, at);
    }
    at = std::max(at, gap.to);
  }
  return sum;
}

outcome run_with_windows(subject::runner run, const parameters& values, plan how, observe::fairness_record& shares,
                         observe::undisturbed_record& windows) {
  stamp_room room(how);
  how.stamps_by_thread = room.logs();
  const outcome seen = run_with_shares(run, values, how, shares);
  if (seen.fault != nullptr || seen.elapsed_ns == 0) return seen;
  const window_total undisturbed = room.windows();
  const double seconds = static_cast<double>(undisturbed.windows * window_ns) / 1e9;
  windows.throughput.push_back(undisturbed.windows < min_windows ? 0 : undisturbed.operations / seconds);
  windows.share.push_back(std::min(1.0, seconds * 1e9 / static_cast<double>(seen.elapsed_ns)));
  return seen;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::workloads

// SPDX-License-Identifier: Apache-2.0
#include "tm/hybrid/path_choice.hpp"

#include <txsync/machine/cpu.hpp>

#include "locks/backoff.hpp"
#include "tm/hybrid/announcements.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace {

// Two readings of the clock take some 50 cycles. A sample is written to the block's line, which all threads read. So
// after the first samples a thread takes one each 50,000 cycles, or 300 blocks.
constexpr std::uint64_t first_samples = 64;
constexpr std::uint64_t first_timing_interval_cycles = 5'000;
constexpr std::uint64_t timing_interval_cycles = 50'000;
constexpr std::uint64_t max_untimed = 300;
// Between two blocks of a thread that leave the hardware for a look. The interval grows while the preference stays.
// Such a block disturbs more than itself: an announcement aborts all attempts that run.
constexpr std::uint64_t min_probe_interval_cycles = 10'000;
constexpr std::uint64_t max_probe_interval_cycles = 5'000'000;
// For blocks of all threads in hardware together.
constexpr std::uint64_t trial_cycles = 300'000;
constexpr std::uint64_t min_trial_interval_cycles = 3'000'000;
constexpr std::uint64_t max_trial_interval_cycles = 3'000'000'000;
// What such a block loses is at most a quarter of the usual time of a block, on average.
constexpr std::uint64_t probing_share = 4;
// A preference changes for a gain of an eighth. Software that runs beside blocks of other threads makes their attempts
// look at records. So it then has to gain a quarter more.
constexpr std::uint64_t gain_divisor = 8;
constexpr std::uint64_t tax_divisor = 4;

constinit bool alternates = false;

/// Whether the timed block takes the path that is not preferred.
bool probes(runner& me, const path_cost& preferred, const path_cost& other, txsync::detail::jitter& random) noexcept {
  const std::uint64_t now = machine::cycles();
  if (now - me.probed < me.probe_interval) return false;
  const std::uint64_t usual = preferred.cycles() + 1;
  const std::uint64_t extra = other.is_known() && other.cycles() > usual ? other.cycles() - usual : 0;
  const std::uint64_t chances = probing_share * extra / usual + 1;
  if (random.upto(2 * (chances - 1)) != chances - 1) return false;  // one of so many values
  me.probed = now;
  if (other.is_known() && me.probe_interval < max_probe_interval_cycles) me.probe_interval *= 2;
  return true;
}

/// Whether other threads have run blocks since this was last asked.
bool others_run(runner& me) noexcept {
  const std::uint64_t before = me.others_blocks;
  me.others_blocks = activity_of_others(me);
  return me.others_blocks != before;
}

void prefer(runner& me, block& where) noexcept {
  path_costs& costs = where.costs();
  const path_cost& hardware = costs.hardware();
  if (!hardware.is_known() || !costs.software.is_known()) return;
  const bool in_software = costs.prefers_software();
  const std::uint64_t mine = in_software ? costs.software.cycles() : hardware.cycles();
  const std::uint64_t other = in_software ? hardware.cycles() : costs.software.cycles();
  if (other + mine / gain_divisor >= mine) return;
  // Asked last: it reads lines that the other threads write.
  if (!in_software && other + mine / gain_divisor + mine / tax_divisor >= mine && others_run(me)) return;
  costs.prefer_software(!in_software);
  costs.leave(in_software);
  me.probe_interval = min_probe_interval_cycles;
  shared.trial_interval.store(0, std::memory_order_relaxed);  // as in tries_together()
}

/// Blocks until the thread times one again.
std::uint32_t until_next_timed(const path_cost& usual, txsync::detail::jitter& random) noexcept {
  const std::uint64_t interval =
      usual.samples() < first_samples ? first_timing_interval_cycles : timing_interval_cycles;
  const std::uint64_t wanted = interval / (usual.cycles() + 1) + 1;
  return static_cast<std::uint32_t>(random.upto(wanted < max_untimed ? wanted : max_untimed));
}

/// Whether blocks of all threads try the hardware. Begins or ends that. relaxed, all: it guards nothing, and of two
/// threads that begin at one moment either is right.
bool tries_together(bool in_software, std::uint64_t now) noexcept {
  const std::uint64_t ends = shared.trial_ends.load(std::memory_order_relaxed);
  if (ends != 0) {
    if (now < ends) return true;
    shared.trial_ends.store(0, std::memory_order_relaxed);
    return false;
  }
  if (!in_software) return false;
  const std::uint64_t interval = shared.trial_interval.load(std::memory_order_relaxed);
  if (now - shared.trial_began.load(std::memory_order_relaxed) < interval) return false;
  shared.trial_began.store(now, std::memory_order_relaxed);
  const std::uint64_t next = interval < min_trial_interval_cycles ? min_trial_interval_cycles : 2 * interval;
  shared.trial_interval.store(next < max_trial_interval_cycles ? next : max_trial_interval_cycles,
                              std::memory_order_relaxed);
  shared.trial_ends.store(now + trial_cycles, std::memory_order_relaxed);
  return true;
}

}  // namespace

void alternate_paths() noexcept { alternates = true; }

path_taken choose_and_time(runner& me) noexcept {
  if (alternates) {
    me.until_timed = 1;
    return {.in_hardware = me.probe_interval++ % 2 == 0};
  }
  path_costs& costs = me.where->costs();
  const bool in_software = costs.prefers_software();
  path_taken taken{
      .in_hardware = !in_software, .beside = others_are_announced(me), .waits = me.counts->transactions.waits.read()};
  const path_cost& preferred = in_software ? costs.software : costs.hardware();
  const std::uint64_t now = machine::cycles();
  txsync::detail::jitter random(&me);
  me.until_timed = preferred.is_known() ? until_next_timed(preferred, random) : 1;
  if (!preferred.is_known()) me.probe_interval = min_probe_interval_cycles;
  if (tries_together(in_software, now)) {
    taken.in_hardware = true;
    withdraw(me);
  } else if (!in_software && preferred.is_known() && probes(me, preferred, costs.software, random)) {
    taken.in_hardware = false;
    me.until_look = 1;  // a thread that is alone then gets the gate's bias, which software is cheaper with
  }
  taken.began = now;
  return taken;
}

void note_path_cost(runner& me, block& where, const path_taken& taken) noexcept {
  const std::uint64_t took = machine::cycles() - taken.began;
  // A block that slept has waited for others.
  if (me.where != &where || me.counts->transactions.waits.read() != taken.waits) return;
  path_costs& costs = where.costs();
  path_cost& hardware = taken.beside ? costs.hardware_beside : costs.alone_in_hardware;
  (taken.in_hardware ? hardware : costs.software).add(took);
  prefer(me, where);
  me.note_path();
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail

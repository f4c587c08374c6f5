// SPDX-License-Identifier: Apache-2.0
#include "tm/hybrid/path_choice.hpp"

#include <txsync/machine/cpu.hpp>

#include "locks/backoff.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace {

// Blocks of a thread from one that is timed to the next, once both paths are known: half of this number to all of it.
constexpr std::uint64_t max_untimed = 42;
// A block that takes the other path disturbs more than itself: an announcement aborts all attempts that run.
constexpr std::uint64_t min_probe_interval_cycles = 200'000;
// What a timed block loses on the other path is at most a quarter of its usual time, on average: of all blocks' time less
// than 1 %.
constexpr std::uint64_t probing_share = 4;
// A preference changes for a gain of an eighth.
constexpr std::uint64_t gain_divisor = 8;

/// Whether the timed block takes the path that is not preferred.
bool probes(runner& me, const path_cost& preferred, const path_cost& other, txsync::detail::jitter& random) noexcept {
  const std::uint64_t now = machine::cycles();
  if (now - me.probed < min_probe_interval_cycles) return false;
  const std::uint64_t usual = preferred.cycles() + 1;
  const std::uint64_t extra = other.cycles() > usual ? other.cycles() - usual : 0;
  const std::uint64_t chances = probing_share * extra / usual + 1;
  if (random.upto(2 * (chances - 1)) != chances - 1) return false;  // one of so many values
  me.probed = now;
  return true;
}

void prefer(block& where) noexcept {
  path_costs& costs = where.costs();
  if (!costs.hardware.is_known() || !costs.software.is_known()) return;
  const bool in_software = costs.prefers_software();
  const std::uint64_t mine = in_software ? costs.software.cycles() : costs.hardware.cycles();
  const std::uint64_t other = in_software ? costs.hardware.cycles() : costs.software.cycles();
  if (other < mine - mine / gain_divisor) costs.prefer_software(!in_software);
}

}  // namespace

path_taken choose_and_time(runner& me) noexcept {
  path_costs& costs = me.where->costs();
  path_taken taken{.in_hardware = !costs.prefers_software(),
                   .waits = me.counts->transactions.waits.read()};
  if (!costs.hardware.is_known() || !costs.software.is_known()) {
    me.until_timed = 1;
    taken.in_hardware = costs.hardware.samples() <= costs.software.samples();
  } else {
    txsync::detail::jitter random(&me);
    me.until_timed = static_cast<std::uint32_t>(random.upto(max_untimed));
    const bool prefers_hardware = taken.in_hardware;
    if (probes(me, prefers_hardware ? costs.hardware : costs.software,
               prefers_hardware ? costs.software : costs.hardware, random)) {
      taken.in_hardware = !prefers_hardware;
    }
  }
  taken.began = machine::cycles();
  return taken;
}

void note_path_cost(runner& me, block& where, const path_taken& taken) noexcept {
  const std::uint64_t took = machine::cycles() - taken.began;
  // A block that slept has waited for others.
  if (me.where != &where || me.counts->transactions.waits.read() != taken.waits) return;
  (taken.in_hardware ? where.costs().hardware : where.costs().software).add(took);
  prefer(where);
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail

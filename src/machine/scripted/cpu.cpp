// SPDX-License-Identifier: Apache-2.0
#include <txsync/machine/cpu.hpp>

#include "state.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::machine {

using script::count;
using script::the_state;

namespace detail {

namespace {
std::uint64_t move_clock(std::uint64_t step) noexcept {
  return the_state().now.fetch_add(step, std::memory_order_relaxed) + step;
}
std::uint64_t look_at_clock() noexcept { return move_clock(the_state().step_per_look.load(std::memory_order_relaxed)); }
}  // namespace

void scripted_prefetch(const void*, bool write) noexcept {
  auto& tally = the_state().tally;
  count(write ? tally.prefetches_to_write : tally.prefetches_to_read);
  scripted_step();
}

void scripted_relax() noexcept {
  count(the_state().tally.relaxes);
  (void)move_clock(the_state().step_per_relax.load(std::memory_order_relaxed));
  scripted_step();
}

std::uint64_t scripted_cycles() noexcept {
  scripted_step();
  return look_at_clock();
}

}  // namespace detail

std::uint64_t clock_ns() noexcept { return detail::scripted_cycles(); }
std::uint64_t thread_cpu_ns() noexcept { return detail::scripted_cycles(); }
std::uint64_t cycles_per_second() noexcept { return 1'000'000'000; }

bool cpuid(std::uint32_t leaf, std::uint32_t subleaf, std::uint32_t (&registers)[4]) noexcept {
  script::state& all = the_state();
  const std::lock_guard hold(all.guard);
  const auto found = all.cpu.leaves.find({leaf, subleaf});
  if (!all.cpu.has_cpuid || found == all.cpu.leaves.end()) return false;
  for (unsigned i = 0; i < 4; ++i) registers[i] = found->second[i];
  return true;
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::machine

// SPDX-License-Identifier: Apache-2.0
#include "tm/stm/orecs.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail {

namespace {
constexpr std::uint64_t spin_cycles = 1'000;  // at an orec that another transaction owns, before the attempt restarts
}

std::uint64_t wait_for_owner(engine& me, const orec& record) {
  const std::uint64_t start = machine::cycles();
  for (;;) {
    const std::uint64_t seen = record.load();
    if (!is_owned(seen)) return seen;
    if (machine::cycles() - start > spin_cycles) {
      runner_of(me).met = &record;
      runner_of(me).met_owner = seen;
      runner_of(me).met_in = as_running(owner_of(seen));
      restart(me, abort_cause::locked);
    }
    machine::relax();
  }
}

void add_read_orecs(engine& me, stripe_set& into) noexcept {
  for (const orec* const record : me.reads) into.add_index(static_cast<std::uint64_t>(record - records.all));
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm::detail

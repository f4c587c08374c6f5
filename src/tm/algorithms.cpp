// SPDX-License-Identifier: Apache-2.0
#include "tm/algorithms.hpp"

#include <txsync/machine/environment.hpp>
#include <txsync/tm/algorithm.hpp>

#include "machine/unknown_setting.hpp"
#include "tm/hybrid/hardware.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::tm {

namespace detail {

constinit shared_words shared;
alignas(machine::pad_bytes) constinit zeroed_records records;

namespace {

constexpr const algorithm* table[] = {
    &automatic, &dctl,  &htm_sgl, &htm_sgl_adaptive, &hydctl,     &hynorec, &hytinystm,
    &hytl2,     &norec, &sgl,     &tinystm_wb,       &tinystm_wt, &tl2,     &two_phase};
constexpr std::size_t count = sizeof table / sizeof *table;

const algorithm* find(std::string_view name) noexcept {
  for (const algorithm* const one : table) {
    if (name == one->name) return one;
  }
  return nullptr;
}

/// auto is dctl where the hardware makes no attempts.
const algorithm& as_it_runs(const algorithm& chosen) noexcept {
  return &chosen == &automatic && !machine::attempts_work() ? dctl : chosen;
}
bool is_in_place_of_auto(const algorithm& now) noexcept {
  return &now == &dctl && shared.is_automatic.load(std::memory_order_relaxed);  // relaxed: as in use_algorithm()
}

void complain_of_name(std::string_view name) noexcept {
  machine::detail::unknown_setting said("TXSYNC_TM", "algorithm", name);
  for (const algorithm* const one : table) said.allow(one->name);
  said.report("using auto");
}

}  // namespace

void refuse_access(engine& me) {
  leave_hardware(runner_of(me));
  refuse_outside();
}

constinit const algorithm outside = {
    .name = "outside",
    .summary = "",
    .begin = [](engine&) {},
    .read = [](engine& me, const word&, orec&) -> std::uint64_t { refuse_access(me); },
    .write = [](engine& me, word&, orec&, std::uint64_t) { refuse_access(me); },
    .commit = [](engine&) { return false; },
    .roll_back = [](engine&) noexcept {},
    .roll_back_to = [](engine&, const log_mark&) noexcept {},
    .is_valid = nullptr,
    .add_reads = nullptr,
    .add_writes = nullptr,
};

/// The algorithm of the environment variable, or the default. Reports a value of the variable that names none.
[[gnu::noinline]] const algorithm& choose_first() noexcept {
  const char* const name = machine::environment("TXSYNC_TM");
  const algorithm* const asked = name != nullptr ? find(name) : &automatic;
  const algorithm& chosen = asked != nullptr ? *asked : automatic;
  const algorithm* none = nullptr;
  if (shared.in_use.compare_exchange_strong(none, &as_it_runs(chosen))) {
    shared.is_automatic.store(&chosen == &automatic, std::memory_order_relaxed);  // as in use_algorithm()
    if (asked == nullptr) complain_of_name(name);
  }
  return *shared.in_use.load();
}

void undo_from(engine& me, std::size_t from) noexcept {
  for (std::size_t i = me.undo.size(); i-- > from;) {
    // release: as in engine::store_in_place()
    me.undo[i].cell->store(me.undo[i].value, std::memory_order_release);
  }
  me.undo.truncate(from);
}

void undo_to(engine& me, const log_mark& mark) noexcept { undo_from(me, mark.undo); }

void add_undone_words(engine& me, stripe_set& into) noexcept {
  for (const old_value& one : me.undo) into.add(*one.cell);
}

void unbuffer_to(engine& me, const log_mark& mark) noexcept {
  runner_of(me).writes.roll_back_to(mark.buffered, mark.replaced);
}

void add_buffered_words(engine& me, stripe_set& into) noexcept {
  for (const new_value& one : runner_of(me).writes) into.add(*one.cell);
}

}  // namespace detail

std::span<const algorithm_name> algorithms() noexcept {
  static const struct names_of_all {
    names_of_all() noexcept {
      for (std::size_t i = 0; i < detail::count; ++i) list[i] = {detail::table[i]->name, detail::table[i]->summary};
    }
    algorithm_name list[detail::count];
  } all;
  return all.list;
}

bool use_algorithm(std::string_view name) noexcept {
  const detail::algorithm* const chosen = detail::find(name);
  if (chosen == nullptr) return false;
  detail::runner& me = detail::runner::mine();
  if (me.mode != detail::run_mode::idle) detail::refuse("use_algorithm() was called within an atomic block");
  me.ready_for = nullptr;  // so that the next block begins as the algorithm wants it
  me.ran_by = nullptr;     // auto may have been dctl, too
  detail::enter_serial(me);
  detail::shared.in_use.store(&detail::as_it_runs(*chosen), std::memory_order_release);
  // relaxed: algorithm_in_use() reads it, and guards nothing by it
  detail::shared.is_automatic.store(chosen == &detail::automatic, std::memory_order_relaxed);
  // hytl2 and hytinystm leave versions that are ahead of the clock by one.
  detail::shared.clock.fetch_add(1);
  detail::leave_serial(me);
  return true;
}

const char* algorithm_in_use() noexcept {
  const detail::algorithm& now = detail::algorithm_now();
  return detail::is_in_place_of_auto(now) ? detail::automatic.name : now.name;
}

block_path path_of(block& where) noexcept {
  using observe::path_reason;
  const detail::algorithm& now = detail::algorithm_now();
  if (now.in_hardware == nullptr && !detail::is_in_place_of_auto(now)) return {};
  if (!machine::attempts_work()) return {.why = path_reason::no_hardware};
  if (where.policy().hardware_attempts == 0 || where.policy().irrevocable) return {.why = path_reason::by_block_policy};
  if (&now != &detail::automatic) return {.in_hardware = true};
  const detail::path_costs& costs = where.costs();
  const std::uint64_t hardware = costs.told_cycles(false);
  const std::uint64_t software = costs.told_cycles(true);
  return {.in_hardware = !costs.prefers_software(),
          .hardware_cycles = static_cast<double>(hardware),
          .software_cycles = static_cast<double>(software),
          .why = hardware != 0 && software != 0 ? path_reason::by_cycles : path_reason::not_timed};
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::tm

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
    &automatic,  &dctl,    &dmp_dctl,  &dmp_norec, &dmp_tinystm, &htm_sgl, &htm_sgl_adaptive,
    &hydctl,     &hynorec, &hytinystm, &hytl2,     &norec,       &sgl,     &tinystm_wb,
    &tinystm_wt, &tl2,     &two_phase};
constexpr std::size_t count = sizeof table / sizeof *table;

const algorithm* find(std::string_view name) noexcept {
  for (const algorithm* const one : table) {
    if (name == one->name) return one;
  }
  return nullptr;
}

const algorithm& as_it_runs(const algorithm& chosen) noexcept {
  return chosen.without_attempts != nullptr && !machine::attempts_work() ? *chosen.without_attempts : chosen;
}
bool can_run(const algorithm& chosen) noexcept { return !as_it_runs(chosen).divides_memory || divide_memory(); }
/// The one that was asked for. relaxed: it guards nothing
const algorithm& asked_for(const algorithm& now) noexcept {
  const algorithm* const asked = shared.asked.load(std::memory_order_relaxed);
  return asked != nullptr ? *asked : now;
}

void complain_of_name(std::string_view name) noexcept {
  machine::detail::unknown_setting said("TXSYNC_TM", "algorithm", name);
  for (const algorithm* const one : table) said.allow(one->name);
  said.report("using auto");
}

void complain_of_memory(const char* name) noexcept {
  std::fprintf(stderr, "txsync: TXSYNC_TM=%s: the system gives no memory that is mapped twice; using auto\n", name);
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
  const bool is_possible = asked != nullptr && can_run(*asked);
  const algorithm& chosen = is_possible ? *asked : automatic;
  const algorithm* none = nullptr;
  if (shared.in_use.compare_exchange_strong(none, &as_it_runs(chosen))) {
    shared.asked.store(&chosen, std::memory_order_relaxed);  // relaxed: it guards nothing
    if (asked == nullptr) complain_of_name(name);
    if (asked != nullptr && !is_possible) complain_of_memory(name);
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
  if (chosen == nullptr || !detail::can_run(*chosen)) return false;
  detail::runner& me = detail::runner::mine();
  if (me.mode != detail::run_mode::idle) detail::refuse("use_algorithm() was called within an atomic block");
  me.ready_for = nullptr;  // so that the next block begins as the algorithm wants it
  me.ran_by = nullptr;     // one may have been in the place of two
  detail::enter_serial(me);
  detail::shared.in_use.store(&detail::as_it_runs(*chosen), std::memory_order_release);
  detail::shared.asked.store(chosen, std::memory_order_relaxed);  // relaxed: it guards nothing
  // hytl2 and hytinystm leave versions that are ahead of the clock by one.
  detail::shared.clock.fetch_add(1);
  detail::leave_serial(me);
  return true;
}

const char* algorithm_in_use() noexcept { return detail::asked_for(detail::algorithm_now()).name; }

block_path path_of(block& where) noexcept {
  using observe::path_reason;
  const detail::algorithm& now = detail::algorithm_now();
  if (detail::asked_for(now).in_hardware == nullptr) return {};
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

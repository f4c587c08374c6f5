// SPDX-License-Identifier: Apache-2.0
#include "script.hpp"

#include <cstdio>
#include <cstdlib>

#include "state.hpp"

namespace txsync::TXSYNC_INLINE_BACKEND::script {

namespace {

constexpr std::uint32_t feature_leaf = 7;
constexpr std::uint32_t rtm_bit = 1u << 11;  // CPUID.7.0:EBX

using guard = std::lock_guard<unseen_mutex>;

/// Changes something on which htm() depends.
template <class Change>
void change_cpu(Change change) {
  state& all = the_state();
  const guard hold(all.guard);
  change(all.cpu);
  ++all.generation;
}

template <class Change>
void change(Change apply) {
  state& all = the_state();
  const guard hold(all.guard);
  apply(all);
}

cpu_settings plain_cpu() {
  cpu_settings cpu;
  cpu.leaves[{0, 0}] = {feature_leaf, 0x69726353, 0x65636966, 0x64657470};  // "Scri", "fice", "pted": no real vendor
  cpu.leaves[{1, 0}] = {0x00050654, 0, 0, 0};                               // family 6, model 85, stepping 4
  cpu.leaves[{feature_leaf, 0}] = {};
  return cpu;
}

void reset() {
  state& all = the_state();
  {
    const guard hold(all.guard);
    if (!all.park.asleep.empty()) refuse("a reset while threads sleep in park()");
    all.cpu = plain_cpu();
    all.plans = {};
    all.system = {};
    all.park.park_answers.clear();
    all.park.unpark_answers.clear();
    ++all.generation;
  }
  all.now = 1;
  all.step_per_look = 1;
  all.step_per_relax = 10;
  all.releases_to_interrupt = 0;
  all.attempts_exclude = false;
  for (auto* one :
       {&all.tally.begins, &all.tally.commits, &all.tally.aborts, &all.tally.warm_begins, &all.tally.elisions,
        &all.tally.elisions_ended, &all.tally.prefetches_to_read, &all.tally.prefetches_to_write, &all.tally.relaxes,
        &all.tally.yields, &all.tally.sleeps, &all.tally.parks, &all.tally.unparks, &all.tally.settles}) {
    *one = 0;
  }
  reset_files();
}

/// Wakes sleepers with a deadline, so that they check the clock.
void let_sleepers_look() {
  change([](state& all) {
    for (sleeper* one : all.park.asleep) one->told.notify_one();
  });
}

}  // namespace

state& the_state() {
  static state* const only = [] {
    auto* const made = new state;
    made->cpu = plain_cpu();
    return made;
  }();
  return *only;
}

void refuse(const char* what) noexcept {
  std::fprintf(stderr, "txsync, scripted machine: %s\n", what);
  std::abort();
}

machine_script::machine_script() { reset(); }
machine_script::~machine_script() { reset(); }

void machine_script::answer_cpuid(std::uint32_t leaf, std::uint32_t subleaf, registers answer) {
  change_cpu([&](cpu_settings& cpu) { cpu.leaves[{leaf, subleaf}] = answer; });
}
void machine_script::forbid_cpuid() {
  change_cpu([](cpu_settings& cpu) { cpu.has_cpuid = false; });
}
void machine_script::claim_rtm() {
  change_cpu([](cpu_settings& cpu) { cpu.leaves[{feature_leaf, 0}][1] |= rtm_bit; });
}
void machine_script::begin_is(begin_nature nature) {
  change_cpu([&](cpu_settings& cpu) { cpu.nature = nature; });
}
void machine_script::have_rtm() {
  claim_rtm();
  begin_is(begin_nature::commits);
}
void machine_script::claim_is(machine::htm_claim claim) {
  change_cpu([&](cpu_settings& cpu) { cpu.claim = claim; });
}
void machine_script::htm_is(const machine::htm_capability& capability) {
  change_cpu([&](cpu_settings& cpu) { cpu.htm = capability; });
}
void machine_script::extras_are(bool hle, bool suspend, bool rollback_only) {
  change_cpu([&](cpu_settings& cpu) {
    cpu.hle = hle;
    cpu.suspend = suspend;
    cpu.rollback_only = rollback_only;
  });
}
void machine_script::nesting_is(unsigned deepest) {
  change_cpu([&](cpu_settings& cpu) { cpu.deepest = deepest; });
}
void machine_script::depth_is_told(bool exactly) {
  change_cpu([&](cpu_settings& cpu) { cpu.tells_depth = exactly; });
}
void machine_script::system_calls_abort_with(std::uint32_t status) {
  change_cpu([&](cpu_settings& cpu) { cpu.system_call_status = status; });
}

void machine_script::on_begin(plan next) { on_begin({next}); }
void machine_script::on_begin(std::initializer_list<plan> next) {
  change([&](state& all) { all.plans.begins.insert(all.plans.begins.end(), next); });
}
void machine_script::on_begin_by_default(plan always) {
  change([&](state& all) { all.plans.by_default = always; });
}
void machine_script::on_begins_in_turn(std::vector<plan> again_and_again) {
  change([&](state& all) {
    all.plans.in_turn = std::move(again_and_again);
    all.plans.turns = 0;
  });
}
void machine_script::attempts_exclude_each_other() { the_state().attempts_exclude = true; }
void machine_script::on_warm_begin(plan next) {
  change([&](state& all) { all.plans.warm.push_back(next); });
}
void machine_script::on_hle(plan next) {
  change([&](state& all) { all.plans.hle.push_back(next); });
}
std::size_t machine_script::begins_left() const {
  state& all = the_state();
  const guard hold(all.guard);
  return all.plans.begins.size();
}

void machine_script::interrupt_releases(unsigned next) { the_state().releases_to_interrupt = next; }

void machine_script::clock_steps(std::uint64_t per_look, std::uint64_t per_relax) {
  the_state().step_per_look = per_look;
  the_state().step_per_relax = per_relax;
}
void machine_script::clock_by_hand(std::uint64_t now) {
  clock_steps(0, 0);
  the_state().now = now;
  let_sleepers_look();
}
void machine_script::advance(std::uint64_t duration) {
  the_state().now += duration;
  let_sleepers_look();
}
std::uint64_t machine_script::now() const { return the_state().now; }

void machine_script::on_park(machine::park_result next) {
  change([&](state& all) { all.park.park_answers.push_back(next); });
}
void machine_script::on_unpark(unsigned answer) {
  change([&](state& all) { all.park.unpark_answers.push_back(answer); });
}
unsigned machine_script::parked() const {
  state& all = the_state();
  const guard hold(all.guard);
  return static_cast<unsigned>(all.park.asleep.size());
}

namespace {
void fail(machine::detail::system_call call, unsigned nth) {
  change([&](state& all) { all.system.failures[call].add(nth); });
}
}  // namespace

void machine_script::fail_thread_start(unsigned nth) { fail(machine::detail::system_call::start_thread, nth); }
void machine_script::fail_map_pages(unsigned nth) { fail(machine::detail::system_call::map_pages, nth); }
void machine_script::fail_protect_pages(unsigned nth) { fail(machine::detail::system_call::protect_pages, nth); }
void machine_script::fail_fault_handler(unsigned nth) { fail(machine::detail::system_call::fault_handler, nth); }

void machine_script::cpus_are(std::vector<machine::detail::cpu_place> places) {
  if (places.empty()) refuse("a machine without CPUs");
  change([&](state& all) { all.system.cpus = std::move(places); });
}
void machine_script::realtime(bool have) {
  change([&](state& all) { all.system.realtime = have; });
}
void machine_script::refuse_pin(bool refuse) {
  change([&](state& all) { all.system.refuse_pin = refuse; });
}
std::vector<unsigned> machine_script::pins() const {
  state& all = the_state();
  const guard hold(all.guard);
  return all.system.pins;
}
void machine_script::set_environment(const std::string& name, std::optional<std::string> value) {
  // htm() depends on the kill switch.
  change([&](state& all) {
    if (value) {
      all.system.environment[name] = std::move(*value);
    } else {
      all.system.environment.erase(name);
    }
    ++all.generation;
  });
}
void machine_script::seed_is(std::uint64_t seed) {
  change([&](state& all) { all.system.seed = seed; });
}
void machine_script::kernel_is(const std::string& text) {
  change([&](state& all) { all.system.kernel = text; });
}
void machine_script::libc_is(const std::string& text) {
  change([&](state& all) { all.system.libc = text; });
}
void machine_script::releases_are_restartable(bool answer) {
  change([&](state& all) { all.system.restartable = answer; });
}

file_system& machine_script::files() {
  static file_system only;
  return only;
}

counts machine_script::counted() const {
  const auto& tally = the_state().tally;
  return {.begins = tally.begins,
          .commits = tally.commits,
          .aborts = tally.aborts,
          .warm_begins = tally.warm_begins,
          .elisions = tally.elisions,
          .elisions_ended = tally.elisions_ended,
          .prefetches_to_read = tally.prefetches_to_read,
          .prefetches_to_write = tally.prefetches_to_write,
          .relaxes = tally.relaxes,
          .yields = tally.yields,
          .sleeps = tally.sleeps,
          .parks = tally.parks,
          .unparks = tally.unparks,
          .settles = tally.settles};
}

}  // namespace txsync::TXSYNC_INLINE_BACKEND::script
